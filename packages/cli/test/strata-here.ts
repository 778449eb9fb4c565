/** Runs `strata` inside the test: the same command with the same output, without the half second that a process needs to start. */
import { createReadStream, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CommandCall } from "../src/command.ts"
import { outputFilter } from "../src/display/output.ts"
import { plainStyle, type Terminal } from "../src/display/terminal.ts"
import { strata } from "../src/strata.ts"
import type { Place, ProcessResult } from "./strata-process.ts"

export interface Here extends Pick<Place, "cwd" | "env"> {
  /** Standard input from a file, as with `strata run < FILE`. */
  readonly stdin?: string
}

/** Runs a command with its output captured. */
export async function strataHere(args: readonly string[], { cwd, env, stdin }: Here): Promise<ProcessResult> {
  const [stdout, stderr] = [new Pipe(), new Pipe()]
  const terminal: Terminal = {
    print: stdout.write,
    complain: stderr.write,
    columns: 80,
    rows: 24,
    isScreen: false,
    style: plainStyle,
  }
  const input = stdin === undefined ? {} : { stdin: fileWith(stdin) }
  const code = await strata(args, { cwd, env, terminal, ...input })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

function fileWith(text: string): NonNullable<CommandCall["stdin"]> {
  const directory = mkdtempSync(join(tmpdir(), "stdin-"))
  const file = join(directory, "text")
  writeFileSync(file, text)
  const fd = openSync(file, "r")
  rmSync(directory, { recursive: true })
  return Object.assign(createReadStream("", { fd }), { fd }) as never
}

class Pipe {
  text = ""
  readonly #filter = outputFilter()
  readonly write = (text: string): void => {
    this.text += this.#filter(text)
  }
}
