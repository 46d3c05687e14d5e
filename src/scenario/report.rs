//! What the headless runner prints.
