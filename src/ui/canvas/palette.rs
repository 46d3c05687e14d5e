//! The theme's colours as the canvas wants them: resolved.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Colours of the tokens in `style/tokens.css`, and the fonts.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// Text.
    pub ink: String,
    /// Quiet text.
    pub muted: String,
    /// Lines.
    pub line: String,
    /// What things stand on.
    pub surface: String,
    /// What is wanted.
    pub desired: String,
    /// What is seen.
    pub observed: String,
    /// What is wrong.
    pub trouble: String,
    /// What is late.
    pub warn: String,
    /// On a filled accent.
    pub on_accent: String,
    /// The family of the monospaced font.
    pub mono: String,
}

impl Palette {
    /// Reads them off a probe: a custom property itself would give its text, not its colour.
    pub fn read() -> Palette {
        Self::probe().unwrap_or_default()
    }

    fn probe() -> Option<Palette> {
        let document = document();
        let probe: HtmlElement = document.create_element("span").ok()?.dyn_into().ok()?;
        document.body()?.append_child(&probe).ok()?;
        let computed = window().get_computed_style(&probe).ok()??;
        let style = probe.style();
        // Where transitions are made short (reduced motion) a probe would tell the colour before.
        let _ = style.set_property_with_priority("transition", "none", "important");
        let color = |token: &str| {
            let _ = style.set_property("color", &format!("var(--{token})"));
            computed.get_property_value("color").unwrap_or_default()
        };
        let mut palette = Palette {
            ink: color("ink"),
            muted: color("muted"),
            line: color("line"),
            surface: color("surface"),
            desired: color("desired"),
            observed: color("observed"),
            trouble: color("trouble"),
            warn: color("warn"),
            on_accent: color("on-accent"),
            mono: String::new(),
        };
        let _ = style.set_property("font-family", "var(--mono)");
        palette.mono = computed.get_property_value("font-family").ok()?;
        probe.remove();
        Some(palette)
    }
}
