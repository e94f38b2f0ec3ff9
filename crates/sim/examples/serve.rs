//! The fake server as a process: `sim --delay-us N --port-file FILE [--rows N] [--stall-after-ms N --stall-ms N]`. Writes
//! its port into FILE once it listens, and ends when its standard input does, so that it never outlives whoever started it.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_sim::{Script, Sim, Stall};

fn main() -> Result<(), String> {
    let (script, port_file) = parse(std::env::args().skip(1))?;
    let port_file = port_file.ok_or("--port-file FILE is missing")?;
    let sim = Sim::start(script).map_err(|error| format!("cannot listen: {error}"))?;
    // Under a temporary name first: whoever waits for the file must not read half of it.
    let part = port_file.with_extension("part");
    std::fs::write(&part, sim.port().to_string())
        .and_then(|()| std::fs::rename(&part, &port_file))
        .map_err(|error| format!("{}: cannot write: {error}", port_file.display()))?;
    io::stdin()
        .read_to_end(&mut Vec::new())
        .map_err(|error| format!("standard input: {error}"))?;
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(Script, Option<PathBuf>), String> {
    let (mut script, mut port_file) = (Script::default(), None);
    let mut stall = Stall {
        after: Duration::ZERO,
        lasts: Duration::ZERO,
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--delay-us" => script.statement_delay = Duration::from_micros(number()?),
            "--rows" => script.rows = u32::try_from(number()?).map_err(|error| format!("{name}: {error}"))?,
            "--stall-after-ms" => stall.after = Duration::from_millis(number()?),
            "--stall-ms" => stall.lasts = Duration::from_millis(number()?),
            "--port-file" => port_file = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if stall.lasts > Duration::ZERO {
        script.stalls.push(stall);
    }
    Ok((script, port_file))
}
