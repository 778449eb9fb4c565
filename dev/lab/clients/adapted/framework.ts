/**
 * A framework whose agents are tried with and without Strata. An entry lists the packages and the programs. A program is an ES module that
 * is run twice, without Strata and with it. Its environment has:
 *
 * - `BASE_URL`: the server. `MODEL`: the model.
 * - `STRATA`: `1` if the program uses Strata. `STRATA_DIR`: directory of the journals. `WINDOW`: the context window that Strata assumes.
 *
 * It prints each answer of `task-responder.ts` on a line. A line `FAULT: …` reports a defect.
 */
export interface Framework {
  readonly name: string
  /** Package specifiers for npm. The table lists the versions of the packages in `shown`. */
  readonly packages: readonly string[]
  readonly shown: readonly string[]
  /** Additional flags for npm. */
  readonly flags?: readonly string[]
  readonly cases: readonly AdaptedCase[]
}

export interface AdaptedCase {
  readonly what: string
  readonly program: string
  /** Arguments of each process. The processes run one after another. Default: a single process without arguments. */
  readonly processes?: readonly (readonly string[])[]
  /** Minimum number of compactions by Strata. */
  readonly compactions: number
  /** Maximum cost with Strata, as a share of the cost without. Default: unlimited. */
  readonly goal?: number
}

/** Arguments of a program that is restarted: one process for each part. */
export const RESTARTED = [["1"], ["2"]]

/** Start of each program: the texts that its tool reads, how a task is put to the model, and which texts must not be seen. */
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
