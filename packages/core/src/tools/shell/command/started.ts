/** What a command starts that is there to start others: `timeout`, `xargs`, `env`, a shell with a script. */
import { lookBelow } from "./below.ts"
import { HIDDEN_COMMAND } from "./facts.ts"
import type { Field } from "./fields.ts"
import { grammarOf } from "./grammar.ts"
import { resolveIn } from "./judged.ts"
import { type GivenOption, type OptionTable, takeApart } from "./options.ts"
import { guessesAt, type Invocation, type InvocationOutcome, NOTHING, NOWHERE, namesIn, plain } from "./outcome.ts"
import { isHarmlessPrefix } from "./variables.ts"
import { unwrap } from "./wrappers.ts"

const SAME_SHELL = new Set(["command", "builtin"])

/** `undefined`: it starts no other command. */
export function wrapped(
  program: string,
  args: readonly Field[],
  invocation: Invocation,
): InvocationOutcome | undefined {
  const { input, isPiped, isFed, place } = invocation
  if (program === "env") return env(args, invocation)
  const found = unwrap(program, args)
  const isKnown = args.every(({ text }) => text !== undefined)
  const own = (isReadOnly: boolean) => ({
    ...plain(invocation, isReadOnly),
    names: isReadOnly ? [] : namesIn(args, place),
  })
  switch (found.state) {
    case "none":
      // `command -v name` prints where the program is
      return SAME_SHELL.has(program) ? { ...NOTHING, commands: [plain(invocation, isKnown)] } : undefined
    case "not understood":
      return {
        ...NOTHING,
        commands: [own(false), ...guessesAt(invocation)],
        unknown: [`${program}: its options are not understood.`],
      }
    case "script":
      return {
        ...NOTHING,
        commands: [own(found.isTransparent && !found.hasOddOptions), ...(found.hasOddOptions ? [HIDDEN_COMMAND] : [])],
        unknown: found.hasOddOptions ? [`${program}: its options are not understood.`] : [],
        scripts: [found.script],
        ...(grammarOf(program) ? {} : { directory: NOWHERE }),
      }
    case "input": {
      const text = input ? input.text : undefined
      const isGiven = input || isPiped || isFed
      return { ...NOTHING, commands: [own(false)], scripts: isGiven ? [{ text, grammar: found.grammar }] : [] }
    }
    case "command": {
      const fields = found.isOpen ? opened(found.words, found.options, invocation) : found.words
      return {
        ...NOTHING,
        commands: [own(found.isTransparent)],
        inner: [{ fields, changesEnvironment: false, isSameShell: SAME_SHELL.has(program) }],
      }
    }
  }
}

/** The words that `xargs` adds: paths below known places if the pipe brings only those, and no name there could be taken for more. */
function opened(words: readonly Field[], options: readonly GivenOption[], { place }: Invocation): readonly Field[] {
  const { piped, disk } = place
  const splitsAt = options.some(({ name }) => name === "0" || name === "null") ? "null" : "newline"
  const isSplitAsPrinted = piped?.separator === splitsAt && !options.some(({ name }) => /^d(?:elimiter)?$/.test(name))
  const isPlain =
    isSplitAsPrinted &&
    piped.below.every((path) => {
      const below = disk && lookBelow(path, disk)
      return below && below.oddName === undefined
    })
  const added: Field = isPlain ? { text: undefined, below: piped.below } : { text: undefined, isPrintable: true }
  const replaced = options.find(({ name }) => ["I", "i", "replace"].includes(name))
  if (!replaced) return [...words, added]
  const mark = replaced.value?.text ?? "{}"
  return words.map((word) =>
    word.text === mark ? added : word.text?.includes(mark) ? { text: undefined, isPrintable: true } : word,
  )
}

const ENV: OptionTable = {
  short: "i0v u: C: S:",
  long: "ignore-environment null unset: chdir: split-string: debug",
  stops: true,
}

function env(args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const taken = takeApart(ENV, args)
  const given = (...names: readonly string[]) =>
    taken.state === "not understood" ? [] : taken.options.filter(({ name }) => names.includes(name))
  const directories = given("C", "chdir")
  const splits = given("S", "split-string")
  if (taken.state === "not understood" || directories.length > 1 || splits.length > 1)
    return {
      ...NOTHING,
      commands: [plain(invocation, false), ...guessesAt(invocation)],
      unknown: ["env: its options are not understood."],
    }
  const { options, operands } = taken
  const split = splits[0]?.value
  const at = operands.findIndex(({ text }) => text === undefined || !/^[A-Za-z_]\w*=/.test(text))
  const assigned = operands.slice(0, at < 0 ? operands.length : at).map(({ text }) => {
    const [name = "", ...value] = text!.split("=")
    return { name, value: value.join("=") }
  })
  const fields = at < 0 ? [] : operands.slice(at)
  if (split) {
    const texts = [split, ...operands].map(({ text }) => text)
    const text = texts.every((part) => part !== undefined) ? texts.join(" ") : undefined
    return { ...NOTHING, commands: [plain(invocation, false)], scripts: [{ text, grammar: "posix" }] }
  }
  if (fields.length === 0)
    return { ...NOTHING, commands: [plain(invocation, false)], unknown: ["env shows the environment."] }
  const target = directories[0]?.value
  const directory = target
    ? { directory: { path: target.text === undefined ? undefined : resolveIn(target.text, invocation.place) } }
    : {}
  const changesEnvironment =
    !assigned.every(isHarmlessPrefix) ||
    options.some(({ name }) => ["u", "i", "unset", "ignore-environment"].includes(name))
  return { ...NOTHING, commands: [plain(invocation, true)], inner: [{ fields, changesEnvironment, ...directory }] }
}
