//! Plays scenario files without a page: `headless FILE... [--flavour edge|level] [--until 5m]
//! [--seed N] [--seeds 1..100] [--json] [--trace]`. `-` reads standard input; a plain manifest is
//! taken as `objects`. Exit status 0 if all expectations were met, 1 if some were missed, 2 for a
//! file or an argument that cannot be read.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use loopscope::kernel::Time;
use loopscope::scenario::report::play;
use loopscope::scenario::{Run, Scenario, Told};
use loopscope::world::LaneId;
use mimalloc::MiMalloc;
use pico_args::Arguments;

/// Many small objects come and go.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

struct Options {
    files: Vec<String>,
    flavour: Option<LaneId>,
    until: Option<Duration>,
    seeds: Vec<Option<u64>>,
    json: bool,
    trace: bool,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut arguments = Arguments::from_env();
    let says = |error: pico_args::Error| error.to_string();
    let flavour = arguments.opt_value_from_fn("--flavour", |word| {
        LaneId::parse(word).ok_or(format!("--flavour {word}: takes edge or level"))
    });
    let until = arguments.opt_value_from_fn("--until", |text| {
        humantime::parse_duration(text).map_err(|_| format!("--until {text}: no time such as 5m"))
    });
    let seed: Option<u64> = arguments.opt_value_from_str("--seed").map_err(says)?;
    let seeds = arguments.opt_value_from_fn("--seeds", seed_range).map_err(says)?;
    let (json, trace) = (arguments.contains("--json"), arguments.contains("--trace"));
    let (flavour, until) = (flavour.map_err(says)?, until.map_err(says)?);
    let files: Vec<String> =
        arguments.finish().into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if let Some(flag) = files.iter().find(|file| file.starts_with("--")) {
        return Err(format!("unknown flag {flag}"));
    }
    if files.is_empty() {
        return Err("which file? (- reads standard input)".to_string());
    }
    let seeds = seeds.map_or(vec![seed], |seeds| seeds.into_iter().map(Some).collect());
    Ok(Options { files, flavour, until, seeds, json, trace })
}

fn seed_range(text: &str) -> Result<Vec<u64>, String> {
    let wrong = || format!("--seeds {text}: takes a range such as 1..100");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to): (u64, u64) =
        (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    if from > to || to - from > 100_000 { Err(wrong()) } else { Ok((from..=to).collect()) }
}

fn run(options: &Options) -> Result<bool, String> {
    let mut all_met = true;
    for name in &options.files {
        let scenario =
            Scenario::read("", &read(name)?).map_err(|error| format!("{name}: {error}"))?;
        for seed in &options.seeds {
            let report = play(&scenario, *seed, options.flavour, options.until);
            all_met &= report.all_met();
            if options.json {
                println!("{}", report.json());
            } else {
                println!("# {name}\n{}", report.text());
            }
            if options.trace {
                trace(&scenario, report.seed, options);
            }
        }
    }
    Ok(all_met)
}

fn read(name: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let outcome = match name {
        "-" => std::io::stdin().take(8 << 20).read_to_end(&mut bytes).map(|_| ()),
        name => std::fs::read(name).map(|read| bytes = read),
    };
    outcome.map_err(|error| format!("{name}: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Every record of the run, a line each.
fn trace(scenario: &Scenario, seed: u64, options: &Options) {
    let mut run = Run::new(Arc::new(scenario.clone()), seed, Vec::new());
    let until = options.until.unwrap_or(Duration::from_secs(60));
    run.run_until(Time::ZERO + until, 20_000_000);
    for lane in run.lanes().iter().filter(|lane| options.flavour.is_none_or(|only| only == lane.id))
    {
        for entry in run.past(lane.id) {
            match &entry.what {
                Told::World(what) => println!("{:?} {} {what:?}", entry.at, lane.id.word()),
                Told::Verdict(verdict) => println!("{:?} {} {verdict:?}", entry.at, lane.id.word()),
            }
        }
    }
}
