/** Arguments of a line: files, values, patterns, and the many ways to quote them. */
import { pieces } from "./fragments.ts"
import type { Random } from "./random.ts"
import { trick } from "./tricks.ts"

const FILES = pieces("files")
/** Files outside the project, behind a link, secret, or endless. */
const FAR_FILES = pieces("far files")
const VALUES = pieces("values")
const FAR_VALUES = pieces("far values")

export function file(random: Random): string {
  if (random.chance(0.03)) return "pipe"
  if (!random.chance(0.2)) return random.pick(FILES)
  const far = random.pick(FAR_FILES)
  return random.chance(0.6) ? far : respell(far, random)
}
export const value = (random: Random): string => random.pick(random.chance(0.15) ? FAR_VALUES : VALUES)
export const operand = (random: Random): string => (random.chance(0.7) ? file(random) : value(random))

export const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
export const double = (text: string): string => `"${text.replace(/[\\"$`]/g, "\\$&")}"`
const dollar = (text: string): string => `$'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`
const escaped = (text: string): string => text.replace(/[^\w./-]/g, (mark) => (mark === "\n" ? "'\n'" : `\\${mark}`))
/** Quotes like a careless user: other special characters in double quotes are not escaped. */
const careless = (text: string): string => `"${text.replaceAll('"', '\\"')}"`
const halves = (text: string): string => {
  const middle = Math.floor(text.length / 2)
  return `${single(text.slice(0, middle))}${double(text.slice(middle))}`
}

/** A text as one argument, quoted in the usual way most of the time. */
export function quote(text: string, random: Random): string {
  if (random.chance(0.75)) return single(text)
  return random.pick([double, dollar, escaped, halves, careless])(text)
}

/** A different spelling of an argument with the same meaning, as far as the shell agrees. */
export function disguise(word: string, random: Random): string {
  return random.chance(0.9) ? word : respell(word, random)
}

function respell(word: string, random: Random): string {
  if (!/^[\w./~$-]+$/.test(word)) return word
  const at = random.below(word.length)
  const [before, letter, after] = [word.slice(0, at), word[at]!, word.slice(at + 1)]
  const rest = `${letter}${after}`
  return random.pick([
    `${before}""${rest}`,
    `${before}''${rest}`,
    `${before}\\${rest}`,
    `${before}\\\n${rest}`,
    `${before}$x${rest}`,
    `${before}{,}${rest}`,
    `${before}{${letter},x}${after}`,
    `${before}{${letter}..${letter}}${after}`,
    `${before}[${letter}]${after}`,
    `${before}?${after}`,
    `${before}"${letter}"${after}`,
    `${before}$'${letter}'${after}`,
    `${before}$(echo ${letter})${after}`,
    `$'${word}'`,
    `"${word}"`,
    `./${word}`,
    `x=${word}`,
    `{${word},a}`,
    `\${x:-${word}}`,
  ])
}

/** Characters and tokens with a meaning in a shell. */
const SYMBOLS = [
  ..."';\"\\|&<>(){}[]#!$`~*?=\n\t\r -",
  "$(",
  "$((",
  "))",
  "[[",
  "]]",
  "$'",
  '$"',
  "\\\n",
  "&&",
  "||",
  ">&",
  "&>",
  "<<E\n",
  "<<<",
  "${",
  ";;",
  "|&",
  "<(",
  ">(",
  "2>",
  " -",
  "--",
  "\u00a0",
  "\u200b",
  "function ",
  "in ",
  "do ",
  "then ",
  "{ ",
  "; }",
  "! ",
  "time ",
]

/** A line with a few small changes. */
export function mutate(line: string, random: Random): string {
  let changed = line
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(changed.length + 1)
    const to = Math.min(changed.length, at + 1 + random.below(6))
    changed = random.pick([
      () => changed.slice(0, at) + random.pick(SYMBOLS) + changed.slice(at),
      () => changed.slice(0, at) + random.pick(SYMBOLS) + changed.slice(at),
      () => changed.slice(0, at) + changed.slice(to),
      () => changed.slice(0, at) + changed.slice(at, to) + changed.slice(at),
      () => changed.slice(0, at) + random.pick([" ", "; ", " && ", "\n", " | "]) + trick(random),
      () => changed.slice(0, at) + operand(random) + changed.slice(at),
    ])()
  }
  return changed
}

/** A line with one or two bytes changed, removed or added at any position. */
export function mutateBytes(line: string, random: Random): string {
  let changed = line
  for (let left = 1 + random.below(2); left > 0; left--) {
    const at = random.below(changed.length + 1)
    const byte = random.chance(0.6) ? random.pick(SYMBOLS) : String.fromCharCode(1 + random.below(126))
    changed = changed.slice(0, at) + random.pick([byte, byte, ""]) + changed.slice(at + random.below(2))
  }
  return changed
}
