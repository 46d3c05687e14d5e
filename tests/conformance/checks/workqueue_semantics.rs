use std::collections::BTreeMap;
use std::time::Duration;

use loopscope::client::delaying_queue::DelayingQueue;
use loopscope::client::work_queue::{Added, WorkQueue};
use loopscope::kernel::{Rng, Time};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(
    tag = "check",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Given {
    Queue {
        steps: Vec<Step>,
    },
    Delayed {
        steps: Vec<Step>,
    },
    Shutdown {
        steps: Vec<Step>,
    },
    Workers {
        producers: usize,
        #[serde(default = "one")]
        adds_per_producer: u32,
        consumers: usize,
        #[serde(default)]
        readds_per_worker_and_item: u32,
        shutdown: Vec<Shutdown>,
        #[serde(default)]
        add_after_shutdown: Option<String>,
    },
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Step {
    Add { item: String },
    AddAfter { item: String, delay_milliseconds: i64 },
    Advance { milliseconds: u64 },
    Get {},
    GetWouldBlock {},
    Done { item: String },
    Len {},
    ShutDown {},
    ShutDownWithDrain {},
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Shutdown {
    ShutDown,
    ShutDownWithDrain,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case {
        Given::Queue { steps } | Given::Delayed { steps } | Given::Shutdown { steps } => {
            Run::default().all(&steps)
        }
        Given::Workers {
            producers,
            adds_per_producer,
            consumers,
            readds_per_worker_and_item,
            shutdown,
            add_after_shutdown,
        } => {
            let crowd = Crowd {
                producers,
                adds_per_producer,
                consumers,
                readds: readds_per_worker_and_item,
                late: add_after_shutdown,
            };
            crowd.in_every_way(&shutdown)
        }
    };
    match got {
        Ok(got) => compare(expect, &got),
        Err(why) => Outcome::Failed(why),
    }
}

/// One run of steps, and all that the vectors can ask about it.
#[derive(Default)]
struct Run {
    queue: DelayingQueue<String>,
    now: Time,
    gets: Vec<Option<String>>,
    get_results: Vec<Value>,
    lens: Vec<usize>,
    len_after_step: Vec<usize>,
    touched: Vec<String>,
    drain_began: bool,
    drain_returns_after: Option<usize>,
    get_reports_shutdown: Option<bool>,
    shut_down_returns: Option<bool>,
}

impl Run {
    fn all(mut self, steps: &[Step]) -> Result<Value, String> {
        for (index, step) in steps.iter().enumerate() {
            self.step(step).map_err(|why| format!("step {index}: {why}"))?;
            self.len_after_step.push(self.queue.len());
            if self.drain_began && self.queue.is_drained() && self.drain_returns_after.is_none() {
                self.drain_returns_after = Some(index);
            }
        }
        Ok(json!({
            "gets": self.gets,
            "getResults": self.get_results,
            "lens": self.lens,
            "lenAfterStep": self.len_after_step,
            "finalLen": self.queue.len(),
            "touched": self.touched,
            "drainReturnsAfterStepIndex": self.drain_returns_after,
            "getReportsShutdownWhileDraining": self.get_reports_shutdown,
            "shutDownReturnsAtOnce": self.shut_down_returns,
        }))
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Add { item } => {
                if self.queue.add(item.clone()) == Added::Merged {
                    self.touched.push(item.clone());
                }
            }
            Step::AddAfter { item, delay_milliseconds } => {
                let delay = u64::try_from(*delay_milliseconds).unwrap_or(0);
                let delay = Duration::from_millis(delay);
                self.queue.add_after(item.clone(), delay, self.now);
            }
            Step::Advance { milliseconds } => {
                self.now += Duration::from_millis(*milliseconds);
                self.queue.advance(self.now);
            }
            Step::Get {} => self.get()?,
            Step::GetWouldBlock {} => {
                if let Some(item) = self.queue.get() {
                    return Err(format!("a get would give {item}"));
                }
                if self.queue.is_shutting_down() {
                    return Err("a get would report shutdown".into());
                }
            }
            Step::Done { item } => self.queue.done(item),
            Step::Len {} => self.lens.push(self.queue.len()),
            Step::ShutDown {} => {
                self.queue.shut_down();
                self.shut_down_returns = Some(self.queue.is_drained());
            }
            Step::ShutDownWithDrain {} => {
                self.queue.shut_down_with_drain();
                self.drain_began = true;
                let nothing = self.queue.clone().get().is_none();
                self.get_reports_shutdown = Some(nothing && self.queue.is_shutting_down());
            }
        }
        Ok(())
    }

    fn get(&mut self) -> Result<(), String> {
        let item = self.queue.get();
        let shutdown = item.is_none() && self.queue.is_shutting_down();
        if item.is_none() && !shutdown {
            return Err("a get would block".into());
        }
        self.get_results.push(json!({ "item": item, "shutdown": shutdown }));
        self.gets.push(item);
        Ok(())
    }
}

/// Producers and consumers who take turns in an order that a seed decides.
struct Crowd {
    producers: usize,
    adds_per_producer: u32,
    consumers: usize,
    readds: u32,
    late: Option<String>,
}

#[derive(Clone, Default)]
struct Consumer {
    has: Option<String>,
    readds: BTreeMap<String, u32>,
    ended: bool,
}

impl Crowd {
    /// The result must be the same for every way of shutting down and every order.
    fn in_every_way(&self, ways: &[Shutdown]) -> Result<Value, String> {
        let mut results = Vec::new();
        for way in ways {
            for seed in 0..20 {
                results.push(self.run(*way, seed)?);
            }
        }
        let first = results.first().cloned().unwrap_or(Value::Null);
        match results.iter().find(|result| **result != first) {
            None => Ok(first),
            Some(other) => Err(format!("the order matters: {first} or {other}")),
        }
    }

    fn run(&self, way: Shutdown, seed: u64) -> Result<Value, String> {
        let mut rng = Rng::stream(seed, "workers");
        let mut queue = WorkQueue::default();
        let mut left = vec![self.adds_per_producer; self.producers];
        let mut consumers = vec![Consumer::default(); self.consumers];
        let (mut late_seen, mut is_shut) = (false, false);
        // Far more turns than are needed, and an end if the queue never reports shutdown.
        for _ in 0..1_000_000 {
            let turn = rng.below((left.len() + consumers.len()) as u64) as usize;
            if let Some(adds) = left.get_mut(turn) {
                if *adds > 0 {
                    *adds -= 1;
                    queue.add(format!("item-{turn}"));
                }
            } else if let Some(consumer) = consumers.get_mut(turn - left.len()) {
                let taken = consumer.turn(&mut queue, self.readds);
                late_seen |= taken.is_some() && taken == self.late;
            }
            if !is_shut && left.iter().all(|adds| *adds == 0) {
                match way {
                    Shutdown::ShutDown => queue.shut_down(),
                    Shutdown::ShutDownWithDrain => queue.shut_down_with_drain(),
                }
                if let Some(late) = &self.late {
                    queue.add(late.clone());
                }
                is_shut = true;
            }
            if consumers.iter().all(|consumer| consumer.ended) {
                let result = json!({ "lateItemSeen": late_seen, "finalLen": queue.len() });
                return if queue.is_drained() { Ok(result) } else { Err("not drained".into()) };
            }
        }
        Err(format!("seed {seed}: the queue never reports shutdown"))
    }
}

impl Consumer {
    /// Takes an item, adds it again, or gives it back; tells what was taken.
    fn turn(&mut self, queue: &mut WorkQueue<String>, readds: u32) -> Option<String> {
        let Some(item) = self.has.take() else {
            self.has = queue.get();
            self.ended = self.has.is_none() && queue.is_shutting_down();
            return self.has.clone();
        };
        let done = self.readds.entry(item.clone()).or_default();
        if *done < readds {
            *done += 1;
            queue.add(item.clone());
            self.has = Some(item);
        } else {
            queue.done(&item);
        }
        None
    }
}
