/** What a line is known to do so far. Every list has a limit, so a hostile line cannot fill the memory. */
import {
  type FileUse,
  HIDDEN_COMMAND,
  type SimpleCommand,
  simpleCommand,
  type UnusualKind,
  type UnusualPart,
} from "./facts.ts"

const MOST_COMMANDS = 1_000
const MOST_REASONS = 20

export const TOO_DEEP = "It is nested too deeply to look at."
export const CALCULATES = "It calculates with variables that are only known when it runs."

export class Findings {
  readonly commands: SimpleCommand[] = []
  /** Files that redirections and file patterns read. */
  readonly reads: FileUse[] = []
  /** Files that redirections write. */
  readonly writes: FileUse[] = []
  readonly unknown = new Set<string>()
  readonly unusual: UnusualPart[] = []
  changesNothing = true

  get isFull(): boolean {
    return this.commands.length > MOST_COMMANDS
  }

  addCommand(command: SimpleCommand): void {
    if (this.isFull) return
    if (this.commands.length < MOST_COMMANDS) this.commands.push(command)
    else {
      this.commands.push(HIDDEN_COMMAND)
      this.addUnknown("It runs too many commands to look at.")
    }
  }

  /** A command that is only known when it runs. */
  addHidden(why: string): void {
    this.addUnknown(why)
    this.addCommand(HIDDEN_COMMAND)
  }

  /** An assignment is a command without words. */
  addObeyedVariable(): void {
    this.addUnknown("It sets a variable that programs or the shell obey.")
    this.addCommand(simpleCommand([]))
  }

  addUnknown(why: string): void {
    this.changesNothing = false
    if (this.unknown.size < MOST_REASONS) this.unknown.add(why)
  }

  addUnusual(kind: UnusualKind, { pos, end }: { readonly pos: number; readonly end: number }): void {
    if (this.unusual.length < MOST_COMMANDS) this.unusual.push({ kind, start: pos, end })
  }
}
