/**
 * A framework whose agents are tried with Strata in them. An entry says what is installed and which programs are run. A program is an ES
 * module that is run twice, without Strata and with it. It finds in the environment:
 *
 * - `BASE_URL`: the server. `MODEL`: the model.
 * - `STRATA`: `1` if it is to use Strata. `STRATA_DIR`: where journals are kept. `WINDOW`: the window that Strata is to think the model has.
 *
 * It prints what `task-responder.ts` answers, a line each. A line `FAULT: …` says what should not have been.
 */
export interface Framework {
  readonly name: string
  /** As npm takes them. The versions of `shown` are in the table. */
  readonly packages: readonly string[]
  readonly shown: readonly string[]
  /** For npm. */
  readonly flags?: readonly string[]
  readonly cases: readonly AdaptedCase[]
}

export interface AdaptedCase {
  readonly what: string
  readonly program: string
  /** The words that each process gets, one process after another. Default: one without words. */
  readonly processes?: readonly (readonly string[])[]
  /** Strata must compact at least so often. */
  readonly compactions: number
  /** What it may cost with Strata, as a share of the cost without. Default: nothing is said about it. */
  readonly goal?: number
}

/** The processes of a program that is restarted. */
export const RESTARTED = [["1"], ["2"]]

/** Where a program begins: the texts that its tool reads, how a task is put to the model, and what must not be seen. */
export const PROGRAM_START = `const { BASE_URL: baseURL, MODEL: model, STRATA, STRATA_DIR: dir, WINDOW } = process.env
const usesStrata = STRATA === "1"
const options = {
  dir,
  settings: { models: { [model]: { window: Number(WINDOW) } } },
  log: (line) => console.error("strata:", line),
}
const partText = (part) => {
  let state = part * 7919
  let text = "Part " + part + "\\n"
  while (text.length < 9000) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    text += "function item_" + (state % 100000) + "(value: number) { return value * " + (state % 97) + " } // " + (state % 13) + "\\n"
  }
  return text
}
const FACT = "The port is 4711. "
const task = (name, parts, how = "") => "[task " + name + ": " + parts + " parts" + how + "] Read them and say what you saw."
const check = (what, seen) => { if (seen.includes("Recall")) console.log("FAULT: " + what + " shows Recall: " + seen.slice(0, 200)) }
const failing = async (start) => {
  try {
    await start()
    console.log("FAULT: it did not fail")
  } catch (error) {
    console.log("ANSWER[failed]", error.message)
  }
}
`
