//! A trap for watch events, as a file and a line write it.

use std::fmt;

use crate::api::Str;
use crate::apiserver::WatchEventType;

use super::fault::{FaultError, Fields, How, Trap, error, span};

impl Trap {
    pub(super) fn read(how: How, fields: &mut Fields) -> Result<Trap, FaultError> {
        let to = match fields.0.remove("controller") {
            Some(controller) => {
                fields.0.insert("to".into(), controller);
                fields.target("to")?
            }
            None => fields.target("to")?,
        };
        let kind = fields.kind()?;
        let event = match fields.text("type")?.map(|t| t.to_ascii_uppercase()).as_deref() {
            None => None,
            Some("ADDED") => Some(WatchEventType::Added),
            Some("MODIFIED") => Some(WatchEventType::Modified),
            Some("DELETED") => Some(WatchEventType::Deleted),
            Some(text) => {
                return error(
                    Some("type"),
                    format!("type: {text} is not ADDED, MODIFIED or DELETED"),
                );
            }
        };
        let on_wire = match fields.text("at")?.as_deref() {
            None | Some("door") => false,
            Some("wire") => true,
            Some(text) => return error(Some("at"), format!("at: {text:?} is not door or wire")),
        };
        let count = fields.count()?;
        let name = fields.text("name")?.map(Str::from);
        Ok(Trap { how, to, kind, event, name, on_wire, count })
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.how {
            How::Drop => "drop",
            How::Delay(_) => "delay",
            How::Duplicate => "duplicate",
            How::Reorder => "reorder",
            How::Hold => "hold",
        };
        write!(f, "{verb} to={}", self.to)?;
        if let Some(kind) = self.kind {
            write!(f, " kind={}", kind.info().kind)?;
        }
        if let Some(event) = self.event {
            write!(f, " type={}", event.word())?;
        }
        if let Some(name) = &self.name {
            write!(f, " name={name}")?;
        }
        if self.count != 1 {
            write!(f, " count={}", self.count)?;
        }
        if let How::Delay(by) = self.how {
            write!(f, " by={}", span(by))?;
        }
        if self.on_wire { f.write_str(" at=wire") } else { Ok(()) }
    }
}
