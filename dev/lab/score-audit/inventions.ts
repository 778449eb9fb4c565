/**
 * Inserts facts that no conversation has into summaries, as separate sentences or in place of true facts. The seed decides which and where.
 * The facts are independent of how claims are checked.
 */
import { randomNumbers } from "./conversations.ts"

export const INVENTION_KINDS = [
  ...["port", "path", "function", "owner", "ticket", "version", "hash", "host", "number with unit", "quote"],
] as const
export type InventionKind = (typeof INVENTION_KINDS)[number]

export interface Invention {
  /** The summary including the invented fact. */
  readonly text: string
  /** The fact that the conversation does not contain. */
  readonly invented: string
}

const SYLLABLES = ["bro", "dak", "fen", "gim", "hul", "jax", "kro", "lim", "nop", "quo", "rud", "vax", "wob", "zil"]
const FORENAMES = ["Maren", "Tobias", "Ingrid", "Rashid", "Yuki", "Oluwaseun", "Beatriz", "Dmitri"]
const ENDINGS = ["ts", "py", "go", "toml", "sql"]
const UNITS = ["ms", "MB", "seconds", "GB", "%"]
const QUOTES = [
  "Rewrite the whole exporter in Zig before the summer.",
  "Keep the accountants away from the invoices of the Helsinki branch again.",
  "Send the weekly figures to the lighthouse team on Tuesdays.",
]
const HEX = "0123456789abcdef"

/** A fact of a kind, the sentences that can hold it, and a pattern for true facts of the kind. */
interface Fact {
  readonly invented: string
  readonly sentences: readonly string[]
  readonly inPlaceOf?: RegExp
}

class Dice {
  readonly #random: () => number
  constructor(seed: number) {
    this.#random = randomNumbers(seed)
  }
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }
  word(): string {
    return `${this.pick(SYLLABLES)}${this.pick(SYLLABLES)}${this.pick(SYLLABLES)}`
  }
  hex(length: number): string {
    return `${this.below(10)}f${Array.from({ length: length - 2 }, () => this.pick([...HEX])).join("")}`
  }
}

function factOf(kind: InventionKind, dice: Dice): Fact {
  const word = dice.word()
  switch (kind) {
    case "port": {
      const invented = `${10_000 + dice.below(50_000)}`
      const sentences = [`The ${word} service listens on port ${invented}.`, `Start it with PORT=${invented}.`]
      return { invented, sentences, inPlaceOf: /(?<=\b(?:port|localhost:?) ?)\d{4,5}\b/ }
    }
    case "path": {
      const invented = `${dice.pick(["src", "/etc", "~/.config", "pkg"])}/${word}/${dice.word()}.${dice.pick(ENDINGS)}`
      return {
        invented,
        sentences: [`The settings are in \`${invented}\`.`, `Changed ${invented} to read the new option.`],
        inPlaceOf: /(?<=`)[\w./-]+\/[\w-]+\.\w{1,4}(?=`)/,
      }
    }
    case "function": {
      const capital = `${word[0]!.toUpperCase()}${word.slice(1)}`
      const invented = dice.pick([`load${capital}`, `${word}_rows`, `Handle${capital}`, word])
      return {
        invented,
        sentences: [
          `\`${invented}()\` does the conversion.`,
          `The error comes from ${invented}() and is caught by its caller.`,
        ],
        inPlaceOf: /(?<=`)\w+(?=\(\)`)/,
      }
    }
    case "owner": {
      const name = `${dice.pick(FORENAMES)} ${word[0]!.toUpperCase()}${word.slice(1)}`
      const invented = dice.pick([name, name, `@${word}`])
      return {
        invented,
        sentences: [`The module is owned by ${invented}.`, `${invented} reviews changes to it.`, `Owner: ${invented}`],
      }
    }
    case "ticket": {
      const invented = dice.pick([
        `${word.slice(0, 3).toUpperCase()}-${100 + dice.below(9_000)}`,
        `#${3_000 + dice.below(6_000)}`,
      ])
      return { invented, sentences: [`This is tracked in ${invented}.`, `It fixes issue ${invented}.`] }
    }
    case "version": {
      const invented = `${20 + dice.below(60)}.${dice.below(40)}.${dice.below(40)}`
      return {
        invented,
        sentences: [`It needs ${word} ${invented} or later.`, `Updated to v${invented}.`],
        inPlaceOf: /(?<![\w.])\d+\.\d+\.\d+(?![\w.])/,
      }
    }
    case "hash": {
      const invented = dice.hex(dice.pick([7, 10, 40]))
      return {
        invented,
        sentences: [`Committed as ${invented}.`, `The regression began with \`${invented}\`.`],
        inPlaceOf: /(?<![\w-])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}(?![\w-])/,
      }
    }
    case "host": {
      const invented = dice.pick([
        `${word}.internal.example.com`,
        `db-${dice.below(90)}.${word}.net`,
        `10.${20 + dice.below(200)}.${dice.below(250)}.${dice.below(250)}`,
      ])
      return { invented, sentences: [`The build runs on ${invented}.`, `Deployed to \`${invented}\` this morning.`] }
    }
    case "number with unit": {
      const invented = `${200 + dice.below(9_700)}`
      const unit = dice.pick(UNITS)
      const amount = unit === "%" ? `${invented}%` : `${invented} ${unit}`
      return {
        invented,
        sentences: [`The cache is limited to ${amount}.`, `The slowest call took ${amount}.`],
        inPlaceOf: /\b\d+(?= ?(?:ms|seconds|MB|GB|KB|%))/,
      }
    }
    case "quote": {
      const invented = dice.pick(QUOTES)
      return { invented, sentences: [`The user said: "${invented}"`, `User's request: "${invented}"`] }
    }
    default:
      throw new Error(`Unknown kind: ${kind satisfies string}`)
  }
}

/** Adds one invented fact to a summary. Every second one replaces a true fact of the same kind, if the summary has one. */
export function invent(summary: string, { kind, seed }: { kind: InventionKind; seed: number }): Invention {
  const dice = new Dice(seed)
  const { invented, sentences, inPlaceOf } = factOf(kind, dice)
  const places = inPlaceOf ? [...summary.matchAll(new RegExp(inPlaceOf, "gu"))] : []
  if (places.length > 0 && dice.below(2) === 0) {
    const { index, 0: old } = dice.pick(places)
    return { text: `${summary.slice(0, index)}${invented}${summary.slice(index + old.length)}`, invented }
  }
  const lines = summary.split("\n")
  const at = dice.pick(outsideCode(lines))
  return { text: lines.toSpliced(at, 0, `   - ${dice.pick(sentences)}`).join("\n"), invented }
}

/** Positions between lines where a sentence can be inserted. */
function outsideCode(lines: readonly string[]): readonly number[] {
  let isCode = false
  return lines.flatMap((line, at) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    return isCode ? [] : [at + 1]
  })
}
