/** The words of a shell command, as far as its text shows them: with quotes removed, and variables and braces that it sets itself. */
import type { Word, WordPart } from "unbash"

/** `undefined`: its value is only known when the command runs. */
export type Variables = ReadonlyMap<string, string | undefined>

const MOST_ALTERNATIVES = 100
const LIST_IN_BRACES = /^\{([\w./@:+=-]*(?:,[\w./@:+=-]*)+)\}$/

/** The words that a word becomes. `undefined` is one that the text does not show: a file pattern, the output of a command. */
export function expanded(word: Word, variables: Variables): readonly (string | undefined)[] {
  if (!word.parts) return [word.value]
  let found: readonly (string | undefined)[] = [""]
  for (const part of word.parts) {
    const choices = part.type === "BraceExpansion" ? inBraces(part.text) : [textOf(part, variables)]
    found = found.flatMap((before) =>
      choices.map((choice) => (before === undefined || choice === undefined ? undefined : before + choice)),
    )
    if (found.length > MOST_ALTERNATIVES) return [undefined]
  }
  return found
}

export const expandedToOne = (word: Word, variables: Variables): string | undefined => {
  const words = expanded(word, variables)
  return words.length === 1 ? words[0] : undefined
}

function inBraces(text: string): readonly (string | undefined)[] {
  return LIST_IN_BRACES.exec(text)?.[1]?.split(",") ?? [undefined]
}

function textOf(part: WordPart, variables: Variables): string | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value
    case "DoubleQuoted":
    case "LocaleString": {
      const texts = part.parts.map((inner) => textOf(inner, variables))
      return texts.includes(undefined) ? undefined : texts.join("")
    }
    case "SimpleExpansion":
      return variables.get(part.text.slice(1))
    case "ParameterExpansion":
      return part.operation || part.prefix || part.index ? undefined : variables.get(part.parameter)
    default:
      return undefined
  }
}
