import { describe, expect, it } from "vitest"
import { readArguments } from "./arguments.ts"
import type { CommandDescription } from "./command.ts"

const options = {
  json: { kind: "flag", about: "" },
  task: { kind: "text", value: "TEXT", about: "" },
  window: { kind: "number", value: "N", about: "", min: 20, max: 2_000 },
} as const
const command: CommandDescription<typeof options> = {
  name: "try",
  about: "",
  options,
  operands: { value: "FILE…", min: 1, max: 2 },
  examples: [],
}
const read = (...args: string[]) => readArguments(command, args)

describe("reading arguments", () => {
  it("gives values by their kind, and operands", () => {
    expect(read("a", "--json", "--window", "1_000", "--task=-x", "b")).toEqual({
      values: { json: true, task: "-x", window: 1_000, help: false, "no-color": false },
      operands: ["a", "b"],
    })
    expect(read("a").values).toMatchObject({ json: false, task: undefined, window: undefined })
    expect(read("--", "--json").operands).toEqual(["--json"])
  })

  it.each([
    [["--jsno", "a"], "strata try has no option --jsno. Did you mean --json?"],
    [["-x", "a"], 'strata try has no option -x. "strata try --help" lists the options.'],
    [["a", "--window"], "--window needs a value: --window N."],
    [["a", "--task", "--json"], "--task needs a value: --task TEXT."],
    [["a", "--window", "-5"], '--window must be a whole number from 20 to 2000, not "-5".'],
    [["a", "--window", "2.5"], '--window must be a whole number from 20 to 2000, not "2.5".'],
    [["a", "--json=yes"], '--json takes no value, but got "yes".'],
    [[], 'strata try needs FILE…. "strata try --help" shows an example.'],
    [["a", "b", "c"], 'strata try takes only FILE…, but got "c". "strata try --help" shows an example.'],
  ])("says what is wrong with %j", (args, sentence) => {
    expect(() => read(...args)).toThrow(expect.objectContaining({ name: "UsageError", message: sentence }))
  })
})
