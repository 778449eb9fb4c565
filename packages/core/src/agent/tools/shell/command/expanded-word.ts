/** Types used during the analysis: arguments, and commands of which little is known. */
import type { SimpleCommand } from "../../../../tools/command.ts"

/** One argument of a command, after shell expansion. */
export interface ExpandedWord {
  /** Text of the argument. `undefined`: not known before it runs. */
  readonly text: string | undefined
}

/** A command of which only the arguments are known. */
export const simpleCommand = (words: SimpleCommand["words"]): SimpleCommand => ({
  words,
  isReadOnly: false,
  uses: { reads: [], writes: [] },
  names: [],
  changesEnvironment: false,
})

/** A command that is unknown before it runs: any rule that denies or asks may apply to it. */
export const HIDDEN_COMMAND: SimpleCommand = simpleCommand([undefined])
