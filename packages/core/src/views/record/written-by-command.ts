/** Which files a shell command changes, by program: a table. Operands that the text does not determine are left out. */
import { basename } from "node:path"
import type { FileEffect } from "./file-effect.ts"

/** `undefined`: a word whose value the text does not determine. */
type ShellArguments = readonly (string | undefined)[]
type Effects = (args: ShellArguments) => readonly FileEffect[]
type EffectKind = FileEffect["what"]

const knownWords = (words: ShellArguments): readonly string[] =>
  words.filter((word) => word !== undefined && word !== "") as string[]
const isOption = (word: string | undefined): boolean => word?.startsWith("-") === true && word !== "-"
const all = (what: EffectKind, paths: readonly string[]): readonly FileEffect[] => paths.map((path) => ({ path, what }))

/** The operands: words other than options and the values of options. */
function operands(args: ShellArguments, withValue: RegExp = /^$/): ShellArguments {
  const found: (string | undefined)[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word === "--") return [...found, ...args.slice(at + 1)]
    if (!isOption(word)) found.push(word)
    else if (withValue.test(word!)) at++
  }
  return found
}

/** The value of an option: the next word, or the text after an equals sign. */
function optionValues(args: ShellArguments, names: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => {
    const name = names.find((each) => word === each || word?.startsWith(`${each}=`))
    if (name === undefined) return []
    return knownWords([word === name ? args[at + 1] : word!.slice(name.length + 1)])
  })
}

const has = (args: ShellArguments, pattern: RegExp): boolean =>
  args.some((word) => isOption(word) && pattern.test(word!))

/** Effects on the last operand, the destination of the others, which may be a directory. */
function destinationEffects(args: ShellArguments, { isMove }: { readonly isMove: boolean }): readonly FileEffect[] {
  const [given] = optionValues(args, ["-t", "--target-directory"])
  const words = operands(args, /^(?:-t|-S|--target-directory|--suffix)$/)
  const target = given ?? words.at(-1)
  const sources = given === undefined ? words.slice(0, -1) : words
  if (target === undefined) return isMove ? all("deleted", knownWords(sources)) : []
  const isDirectory = given !== undefined || sources.length > 1 || /[/\\]$/.test(target) || /^\.{1,2}$/.test(target)
  return knownWords(sources).flatMap((source): readonly FileEffect[] => [
    ...(isMove ? all("deleted", [source]) : []),
    {
      path: isDirectory ? `${target.replace(/[/\\]$/, "")}/${basename(source)}` : target,
      what: isMove ? "created" : "written",
    },
  ])
}

const SED_VALUES = /^(?:-e|-f|-l|--expression|--file|--line-length)$/

function sed(args: ShellArguments): readonly FileEffect[] {
  if (!has(args, /^(?:-[a-zA-Z]*i|--in-place)/)) return []
  // sed on BSD takes the suffix as a separate word, which is often empty
  const rest = args.filter((word, at) => !(word === "" && args[at - 1] === "-i"))
  const words = operands(rest, SED_VALUES)
  const hasScript = rest.some((word) => /^(?:-e|-f|--expression|--file)/.test(word ?? ""))
  return all("changed", knownWords(hasScript ? words : words.slice(1)))
}

const perl: Effects = (args) => {
  if (!has(args, /^-[a-zA-Z0-9]*i/)) return []
  const script = args.findIndex((word) => isOption(word) && /e$/.test(word!))
  const words = args.slice(script < 0 ? 0 : script + 2).filter((word) => !isOption(word))
  return all("changed", knownWords(script < 0 ? words.slice(1) : words))
}

/** Formatters and fixers change the files they are given. They also accept directories and patterns, which name no file. */
const formatterEffects = (args: ShellArguments): readonly FileEffect[] =>
  all("changed", knownWords(operands(args)).filter(looksLikeFile))
const looksLikeFile = (path: string): boolean => /(?:^|[/\\])[^/\\*?]+\.[A-Za-z][\w-]*$/.test(path)

/** Changes files only if a flag asks for it. */
const formattedWith =
  (flag: RegExp): Effects =>
  (args) =>
    has(args, flag) ? formatterEffects(args) : []
/** Changes files unless a flag asks for a report. */
const formattedWithout =
  (flag: RegExp): Effects =>
  (args) =>
    has(args, flag) ? [] : formatterEffects(args)

const outputIn =
  (...names: readonly string[]): Effects =>
  (args) =>
    all("written", optionValues(args, names))

const git: Effects = (given) => {
  const args = given[0] === "-C" ? given.slice(2) : given
  const [command, ...rest] = args
  if (command === "mv") return destinationEffects(rest, { isMove: true })
  if (command === "rm") return all("deleted", knownWords(operands(rest)))
  if (command === "restore" && !has(rest, /^(?:-S|--staged)$/))
    return all("changed", knownWords(operands(rest, /^(?:-s|--source)$/)))
  const separator = rest.indexOf("--")
  return command === "checkout" && separator >= 0 ? all("changed", knownWords(rest.slice(separator + 1))) : []
}

const remove: Effects = (args) => all("deleted", knownWords(operands(args)))

const PROGRAMS: Readonly<Record<string, Effects>> = {
  rm: remove,
  unlink: remove,
  shred: (args) => (has(args, /u|^--remove/) ? remove(args) : all("changed", knownWords(operands(args)))),
  mv: (args) => destinationEffects(args, { isMove: true }),
  cp: (args) => destinationEffects(args, { isMove: false }),
  install: (args) => (has(args, /^-[a-zA-Z]*d/) ? [] : destinationEffects(args, { isMove: false })),
  ln: (args) => destinationEffects(args, { isMove: false }),
  tee: (args) => all(has(args, /^(?:-[a-zA-Z]*a|--append)/) ? "changed" : "written", knownWords(operands(args))),
  touch: (args) => all("touched", knownWords(operands(args, /^(?:-d|-r|-t)$/))),
  truncate: (args) => all("changed", knownWords(operands(args, /^(?:-s|-r)$/))),
  dd: (args) =>
    all(
      "written",
      knownWords(args).flatMap((word) => (word.startsWith("of=") ? word.slice(3) : [])),
    ),
  sed,
  gsed: sed,
  perl,
  git,
  patch: (args) => all("changed", knownWords(operands(args, /^-/)).slice(0, 1)),
  curl: outputIn("-o", "--output"),
  wget: outputIn("-O", "--output-document"),
  sort: outputIn("-o", "--output"),
  gcc: outputIn("-o"),
  cc: outputIn("-o"),
  clang: outputIn("-o"),
  rustc: outputIn("-o"),
  go: (args) => (args[0] === "build" ? all("written", optionValues(args, ["-o"])) : []),
  gofmt: formattedWith(/^-w$/),
  goimports: formattedWith(/^-w$/),
  prettier: formattedWith(/^(?:-w|--write)$/),
  eslint: formattedWith(/^--fix$/),
  biome: formattedWith(/^--(?:write|fix|apply)/),
  ruff: (args) =>
    args[0] === "format" ? formattedWithout(/^--(?:check|diff)$/)(args) : formattedWith(/^--fix$/)(args),
  black: formattedWithout(/^--(?:check|diff)$/),
  rustfmt: formattedWithout(/^--check$/),
}

/** `name`: the program without its directory. */
export function writtenByCommand(name: string, args: ShellArguments): readonly FileEffect[] {
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name]!(args) : []
}

/** A path as a script spells it: a string literal, or a variable that contains one. */
const QUOTED = String.raw`[rb]*(?:"([^"\n$]+)"|'([^'\n$]+)'|\`([^\`\n$]+)\`|([A-Za-z_]\w*))`
const SCRIPT_WRITES: readonly (readonly [RegExp, EffectKind])[] = [
  [new RegExp(String.raw`\bopen\(\s*${QUOTED}\s*,\s*(?:mode\s*=\s*)?["'][wx]`, "g"), "written"],
  [new RegExp(String.raw`\bopen\(\s*${QUOTED}\s*,\s*(?:mode\s*=\s*)?["']a`, "g"), "changed"],
  [new RegExp(String.raw`\bPath\(\s*${QUOTED}\s*\)\.write_(?:text|bytes)\(`, "g"), "written"],
  [new RegExp(String.raw`(?<![\w.])${QUOTED}\.write_(?:text|bytes)\(`, "g"), "written"],
  [new RegExp(String.raw`\b(?:writeFile(?:Sync)?|File\.write)\(\s*${QUOTED}\s*,`, "g"), "written"],
  [new RegExp(String.raw`\bappendFile(?:Sync)?\(\s*${QUOTED}\s*,`, "g"), "changed"],
]
const ASSIGNED = /(?<![\w.])([A-Za-z_]\w*)\s*=\s*(?:(?:pathlib\.)?Path\(\s*)?[rb]*(?:"([^"\n$]+)"|'([^'\n$]+)')/g

/** Files that a script in a word or a here-document writes, if the script spells out their paths. */
export function writtenByScript(code: string): readonly FileEffect[] {
  const named = new Map([...code.matchAll(ASSIGNED)].map(([, name, double, single]) => [name!, double ?? single]))
  return SCRIPT_WRITES.flatMap(([pattern, what]) => {
    const paths = [...code.matchAll(pattern)].map(([, double, single, template, variable]) => {
      return double ?? single ?? template ?? named.get(variable ?? "")
    })
    return all(what, knownWords(paths))
  })
}
