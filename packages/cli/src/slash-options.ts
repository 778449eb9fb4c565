/**
 * Parses the options of a slash command, at any position in its line, and the text without them. Other words that look like options are
 * refused, so that a typo in `--dry-run` never runs the command. After a lone `--` everything is text.
 */
import { UsageError } from "./command.ts"

export interface OptionNames {
  readonly command: string
  readonly flags: readonly string[]
  readonly withValue?: readonly string[]
}

export interface ParsedSlashLine {
  /** Values by option name; `yes` for a flag. */
  readonly given: Readonly<Record<string, string>>
  readonly text: string
}

const WORD = /\S+/g
const DASHES = /^(?:--|—|–)/ // some systems replace two hyphens with a dash

export function readSlashOptions(line: string, { command, flags, withValue = [] }: OptionNames): ParsedSlashLine {
  const given: Record<string, string> = {}
  const cuts: (readonly [from: number, to: number])[] = []
  const words = [...line.matchAll(WORD)]
  for (let at = 0; at < words.length; at++) {
    const { 0: word, index } = words[at]!
    if (!DASHES.test(word)) continue
    if (word === "--") {
      cuts.push([index, index + word.length])
      break
    }
    if (word === "—" || word === "–") continue // a dash in a sentence
    const name = word.startsWith("--") ? word.slice(2) : ""
    const takesValue = withValue.includes(name)
    if ((!flags.includes(name) && !takesValue) || given[name] !== undefined)
      throw noOption(word, { command, flags, withValue })
    const value = takesValue ? words[++at] : undefined
    if (takesValue && !value) throw new UsageError(`${command} ${word} needs a value. Nothing was changed.`)
    given[name] = value?.[0] ?? "yes"
    const last = value ?? words[at]!
    cuts.push([index, last.index + last[0].length])
  }
  return { given, text: removeRanges(line, cuts) }
}

/** Removes ranges of the line. Line breaks of the text stay. */
function removeRanges(line: string, cuts: readonly (readonly [from: number, to: number])[]): string {
  const parts: string[] = []
  let from = 0
  for (const [start, end] of cuts) {
    parts.push(line.slice(from, start))
    from = end
  }
  const [first = "", ...rest] = [...parts, line.slice(from)]
  return rest
    .reduce((text, part) => (part.trim() === "" ? text : `${text.trimEnd()} ${part.trimStart()}`), first)
    .trim()
}

function noOption(word: string, { command, flags, withValue = [] }: OptionNames): UsageError {
  const names = [...flags, ...withValue].map((name) => `--${name}`)
  const listed = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("")
  return new UsageError(
    `${command} has no option ${word}, or it is there twice. Nothing was changed. The options are ${listed}. Text after -- is taken as it is.`,
  )
}
