/** Builtins that change the shell itself: its directory, its variables, what names mean. */
import { posix } from "node:path"
import { HIDDEN_COMMAND } from "./facts.ts"
import type { Field } from "./fields.ts"
import { resolveIn } from "./judged.ts"
import { type OptionTable, takeApart } from "./options.ts"
import { type Invocation, type InvocationOutcome, NOTHING, NOWHERE, namesIn, plain } from "./outcome.ts"
import { isHarmlessAssignment } from "./variables.ts"

const MOVES = "It moves to a directory that is only known when it runs."

/** `undefined`: it is no such builtin. */
export function builtin(
  program: string,
  args: readonly Field[],
  invocation: Invocation,
): InvocationOutcome | undefined {
  const words = args.map(({ text }) => text)
  switch (program) {
    case "cd":
      return cd(args, invocation)
    case "pushd":
    case "popd":
      return {
        ...NOTHING,
        commands: [plain(invocation, false)],
        unknown: [`${program} moves to another directory.`],
        directory: NOWHERE,
      }
    case "source":
    case ".":
      return {
        ...NOTHING,
        commands: [{ ...plain(invocation, false), names: namesIn(args, invocation.place) }],
        directory: NOWHERE,
      }
    case "read":
      return read(READ, args, invocation)
    case "mapfile":
    case "readarray":
      return read(MAPFILE, args, invocation)
    case "trap":
      return {
        ...NOTHING,
        commands: [plain(invocation, false)],
        scripts: words.length > 1 ? [{ text: words[0], grammar: "bash" }] : [],
      }
    case "alias":
    case "enable":
    case "shopt":
    case "hash":
      if (words.length === 0) return undefined
      return {
        ...NOTHING,
        commands: [plain(invocation, false), HIDDEN_COMMAND],
        unknown: [`${program} changes what the names of programs mean.`],
      }
    default:
      return undefined
  }
}

/** `cd` in the project reads nothing but the directory. */
function cd(args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const { place } = invocation
  const operands = args.filter(({ text }) => !/^-[LP]+$|^--$/.test(text ?? ""))
  const text = operands.length === 0 ? place.home : operands[0]!.text
  const isSearched = place.env.CDPATH && text !== undefined && !/^\.{0,2}(?:\/|$)/.test(text)
  const leavesLink = place.isLinked && text?.split("/").includes("..")
  if (text === undefined || text === "-" || operands.length > 1 || isSearched || leavesLink) {
    return {
      ...NOTHING,
      commands: [plain(invocation, false)],
      unknown: [MOVES],
      directory: NOWHERE,
    }
  }
  const path = text === "" ? place.directory : resolveIn(text, place)
  const straight = path === undefined ? undefined : posix.resolve(place.directory ?? "/", text)
  const isThere = path !== undefined && (place.disk?.kindOf(path) ?? "directory") === "directory"
  const isLinked = path !== straight
  const mayGoElsewhere = isLinked && text.split("/").includes("..")
  const command = { ...plain(invocation, path !== undefined), uses: { reads: [{ path }], writes: [] } }
  const unknown = path === undefined ? [MOVES] : []
  const directory = isThere && !mayGoElsewhere ? { path, isLinked: isLinked || (place.isLinked ?? false) } : NOWHERE
  return { ...NOTHING, commands: [command], unknown, directory }
}

const READ = { short: "ers a: d: i: n: N: p: t: u:" }
/** Not `-C`: it names a command to run. */
const MAPFILE = { short: "t d: n: O: s: u:" }

function read(table: OptionTable, args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const taken = takeApart(table, args)
  const names =
    taken.state === "understood"
      ? [
          ...taken.operands.map(({ text }) => text),
          ...taken.options.flatMap(({ name, value }) => (name === "a" ? [value?.text] : [])),
        ]
      : [undefined]
  const isHarmless = names.every(
    (name) =>
      name !== undefined &&
      /^[A-Za-z_]\w*$/.test(name) &&
      isHarmlessAssignment({ name, value: undefined }, invocation.place.env),
  )
  return {
    ...NOTHING,
    commands: [plain(invocation, isHarmless)],
    unknown: isHarmless ? [] : ["It sets a variable that is not understood."],
    sets: names.flatMap((name) => name ?? []),
  }
}
