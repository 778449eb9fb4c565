/** Runs `strata` inside the test: the same command with the same output, without the half second that a process needs to start. */
import { outputFilter } from "../src/display/output.ts"
import { plainStyle, type Terminal } from "../src/display/terminal.ts"
import { strata } from "../src/strata.ts"
import type { Ended, Place } from "./strata-process.ts"

/** Standard input is empty, and the output goes to pipes. */
export async function strataHere(args: readonly string[], { cwd, env }: Pick<Place, "cwd" | "env">): Promise<Ended> {
  const [stdout, stderr] = [new Pipe(), new Pipe()]
  const terminal: Terminal = {
    print: stdout.write,
    complain: stderr.write,
    columns: 80,
    rows: 24,
    isScreen: false,
    style: plainStyle,
  }
  const code = await strata(args, { cwd, env, terminal })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

class Pipe {
  text = ""
  readonly #filter = outputFilter()
  readonly write = (text: string): void => {
    this.text += this.#filter(text)
  }
}
