//! A scenario that can be run: a file whose parts are checked and put into the simulation's terms.

use crate::kernel::Time;
use crate::node::{ImageBehaviour, Images};
use crate::world::{LOADS_MAX, LaneId, Load, Network, Options, Simulation, Target};

use super::format::{self, File, FormatError, In, ServerFile};
use super::load;
use super::run::Input;
use super::text::Text;

/// Nodes of a cluster that says nothing.
const NODES: u16 = 3;

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name in a link; empty for one that does not ship.
    pub id: String,
    /// The text of the file.
    pub text: String,
    /// The file.
    pub file: File,
    images: Images,
    load: Vec<Load>,
}

impl Scenario {
    /// Reads a scenario file, or a plain manifest.
    pub fn read(id: &str, text: &str) -> Result<Scenario, FormatError> {
        let file = format::read(text)?;
        let refuse = |message: String| FormatError { line: None, message };
        for (name, knobs) in &file.cluster.controllers {
            let checked = Target::parse(name).and_then(|target| knobs.check(&target));
            checked.map_err(|e| refuse(format!("cluster.controllers: {e}")))?;
        }
        let mut images = Images::default();
        for (image, value) in &file.images {
            let behaviour: ImageBehaviour = serde_json::from_value(value.clone())
                .map_err(|error| refuse(format!("images.{image:?}: {error}")))?;
            images.0.insert(image.as_str().into(), behaviour);
        }
        let mut load = Vec::new();
        for value in &file.load {
            load.extend(load::read(value).map_err(refuse)?);
        }
        if load.len() > LOADS_MAX {
            return Err(refuse(format!("load: at most {LOADS_MAX} entries are taken")));
        }
        Ok(Scenario { id: id.to_string(), text: text.to_string(), file, images, load })
    }

    /// Leaves only one of its lanes.
    pub fn keep_lane(&mut self, lane: LaneId) {
        self.file.flavours = Some(vec![match lane {
            LaneId::Edge => format::Lane::Edge,
            LaneId::Level => format::Lane::Level,
        }]);
    }

    /// Its name.
    pub fn title(&self) -> &Text {
        &self.file.title
    }

    /// The seed, if nobody gives another.
    pub fn seed(&self) -> u64 {
        self.file.seed.unwrap_or(1)
    }

    /// The lanes.
    pub fn lanes(&self) -> Vec<LaneId> {
        match &self.file.flavours {
            Some(lanes) if !lanes.is_empty() => lanes.iter().map(|lane| (*lane).into()).collect(),
            _ => vec![LaneId::Edge, LaneId::Level],
        }
    }

    /// The lanes at the start of the run, before anything is applied.
    pub fn simulation(&self, seed: u64) -> Simulation {
        Simulation::new(&self.lanes(), |lane| self.options(lane, seed))
    }

    fn options(&self, lane: LaneId, seed: u64) -> Options {
        let cluster = &self.file.cluster;
        let mut network = Network::default();
        if let Some(range) = cluster.network.latency {
            network.request = (range.0, range.1);
        }
        if let Some(range) = cluster.network.watch_latency {
            network.watch = (range.0, range.1);
        }
        let knobs = cluster.controllers.iter().map(|(name, file)| {
            let name = Target::parse(name).map_or_else(|_| name.clone(), |t| t.name.to_string());
            (name, file.knobs(lane))
        });
        Options {
            seed,
            nodes: cluster.nodes.unwrap_or(NODES),
            network,
            knobs: knobs.collect(),
            images: self.images.clone(),
            load: self.load.clone(),
            operators: cluster.operators.clone(),
            server_limit: cluster.api_server.map(ServerFile::limit),
            ..Options::default()
        }
    }

    /// Its steps as console lines, in order; first of all the objects that are applied at the
    /// start.
    pub fn script(&self) -> Vec<Input> {
        let mut script = Vec::new();
        if !self.file.git.trim().is_empty() {
            script.push(Input {
                at: Time::ZERO,
                given: Time::ZERO,
                lanes: In::Both,
                line: "git push".into(),
                stdin: Some(self.file.git.clone()),
                fails: None,
                prints: None,
            });
        }
        if !self.file.objects.trim().is_empty() {
            script.push(Input {
                at: Time::ZERO,
                given: Time::ZERO,
                lanes: In::Both,
                line: "apply -f -".into(),
                stdin: Some(self.file.objects.clone()),
                fails: None,
                prints: None,
            });
        }
        if self.file.crowd.count > 0 {
            script.push(Input {
                at: Time::ZERO,
                given: Time::ZERO,
                lanes: In::Both,
                line: format!("crowd {}", self.file.crowd.count),
                stdin: Some(self.file.crowd.objects.clone()),
                fails: None,
                prints: None,
            });
        }
        for step in &self.file.steps {
            let own = step.fault.as_ref().and_then(|fault| fault.lanes);
            let (line, stdin) = if let Some(line) = &step.kubectl {
                (line.clone(), step.stdin.clone())
            } else if let Some(fault) = &step.fault {
                (fault.fault.to_string(), None)
            } else if let Some(manifest) = &step.apply {
                ("apply -f -".to_string(), Some(manifest.clone()))
            } else {
                ("git push".to_string(), step.git.clone())
            };
            script.push(Input {
                at: Time::ZERO + step.at.0,
                given: Time::ZERO + step.at.0,
                lanes: own.unwrap_or(step.lanes),
                line,
                stdin,
                fails: step.fails.clone(),
                prints: step.prints.clone(),
            });
        }
        script.sort_by_key(|input| input.at);
        script
    }

    /// Where the page opens it, paused: where the file says, else at its first step.
    pub fn start(&self) -> Time {
        let first = self.file.steps.iter().map(|step| step.at.0).min();
        let start = self.file.start.map(|span| span.0).or(first);
        Time::ZERO + start.unwrap_or(std::time::Duration::from_secs(10))
    }
}
