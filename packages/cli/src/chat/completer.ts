/** Looks up completions for the word at the cursor in the background: custom commands after `/`, files after `@`. */
import { dirname, normalize } from "node:path/posix"
import { type OfferedCommand, type Trigger, triggerAt } from "./completion.ts"
import type { CustomCommand } from "./custom-commands.ts"
import type { FoundFiles } from "./project-files.ts"
import type { ChatStore } from "./store.ts"

export interface CompleterOptions {
  readonly store: ChatStore
  readonly builtIn: readonly OfferedCommand[]
  readonly ownCommands: () => Promise<readonly CustomCommand[]>
  /** Files below a directory, relative to the working directory. */
  readonly filesBelow: (directory: string) => Promise<FoundFiles>
}

export class Completer {
  readonly #parts: CompleterOptions
  /** The last word that was looked up. */
  #word = ""
  /** True if the search stopped before all files were found. A directory in the typed path is then searched separately. */
  #isPartial = false

  constructor(parts: CompleterOptions) {
    this.#parts = parts
    parts.store.dispatch({ type: "completion", change: { commands: parts.builtIn } })
  }

  /** Called after each key. */
  look(): void {
    const { store } = this.#parts
    const trigger = triggerAt(store.snapshot().editor)
    const below = trigger?.kind === "file" && this.#isPartial ? directoryIn(trigger.typed) : "."
    const word = trigger ? `${trigger.kind} ${trigger.from} ${below}` : ""
    if (word === this.#word) return
    this.#word = word
    if (trigger) this.#find(trigger, below).catch((error: unknown) => store.fail(error))
  }

  async #find({ kind }: Trigger, below: string): Promise<void> {
    const { store, builtIn, ownCommands, filesBelow } = this.#parts
    const word = this.#word
    if (kind === "command") {
      const commands = [...builtIn, ...withUnusedNames(await ownCommands(), builtIn)]
      store.dispatch({ type: "completion", change: { commands } })
      return
    }
    const { files, isPartial } = await filesBelow(below)
    if (word !== this.#word) return // another search has started
    this.#isPartial ||= isPartial
    store.dispatch({ type: "completion", change: { files } })
  }
}

/** The directory of the typed path. Only directories below the working directory are searched. */
function directoryIn(typed: string): string {
  const directory = normalize(dirname(typed))
  return /^(?:\.\.|\/|~)/.test(directory) ? "." : directory
}

/** Custom commands by the shortest name that is still free: a later command with the same name needs its full name. */
export function withUnusedNames(
  own: readonly CustomCommand[],
  builtIn: readonly OfferedCommand[],
): readonly OfferedCommand[] {
  const taken = new Set(builtIn.map(({ name }) => name))
  return own.flatMap(({ name, fullName, usage, about }) => {
    const free = [name, fullName].find((candidate) => !taken.has(candidate))
    if (free === undefined) return []
    taken.add(free)
    return [{ name: free, usage: usage.replace(`/${name}`, `/${free}`), about }]
  })
}
