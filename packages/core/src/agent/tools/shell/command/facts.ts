/** Facts while a line is read: what a word may be, and commands of which little is known. */
import type { SimpleCommand } from "../../../../tools/command.ts"

/** One word that a program gets. */
export interface Field {
  /** `undefined`: not known before it runs. */
  readonly text: string | undefined
}

/** A command of which only the words are known. */
export const simpleCommand = (words: SimpleCommand["words"]): SimpleCommand => ({
  words,
  isReadOnly: false,
  uses: { reads: [], writes: [] },
  names: [],
  changesEnvironment: false,
})

/** A command that is only known when it runs: any rule that denies or asks may be about it. */
export const HIDDEN_COMMAND: SimpleCommand = simpleCommand([undefined])
