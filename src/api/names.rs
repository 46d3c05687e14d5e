//! Which names, labels and keys are legal.
