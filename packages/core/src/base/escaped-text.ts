/** Text from files of a project, for sentences and screens: nothing in it is invisible, moves the cursor or changes its direction. */

/** Controls, bidi and zero-width characters, separators that break a line, odd spaces, private and unassigned characters. */
const UNSEEN = /(?! )[\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu

/** Writes every such character as an escape: ESC becomes `\u001b`. Line ends are escaped too. */
export function escaped(text: string): string {
  return text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at))).join(""),
  )
}

const hex = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`
