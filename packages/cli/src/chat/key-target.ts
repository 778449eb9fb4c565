/** The interface of the chat for the keyboard, also used while the conversation is being opened. */
import type { Completer } from "./completer.ts"
import type { ChatStore } from "./store.ts"

export interface KeyTarget {
  readonly store: ChatStore
  readonly completer: Completer
  submit(text: string): void
  /** Stops running work. Returns whether there was any. */
  interrupt(): boolean
  /** Opens the list of messages to go back to. */
  goBack(): void
  nextMode(): void
  /** Shows the nth folded item, counted from the newest. */
  expand(nth: number): void
  print(title: string, lines: readonly string[]): void
  leave(): void
}
