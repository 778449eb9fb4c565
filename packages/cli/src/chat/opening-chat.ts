/**
 * A chat whose conversation is still being opened. It is on the screen at once: the user can type, and input is queued and sent in order
 * once the conversation is open.
 */
import { join } from "node:path"
import { resolveProject } from "@strata/core/projects"
import { projectDirectory } from "@strata/core/store"
import type { Workspace } from "../session.ts"
import { Completer } from "./completer.ts"
import { type HistoryFile, historyFile } from "./input-history.ts"
import type { KeyTarget } from "./key-target.ts"
import { Pastes } from "./pastes.ts"
import { projectFiles } from "./project-files.ts"
import { SLASH_COMMANDS } from "./slash-commands.ts"
import type { QueuedInput } from "./state.ts"
import { ChatStore } from "./store.ts"

/** The chat once it is open. */
export interface OpenChat extends KeyTarget {
  /** Resolves when the line is carried out or queued for the agent. */
  perform(text: string): Promise<void>
}

/** A submitted line, or a switch to the next permission mode. */
type QueuedStep = { readonly kind: "line"; readonly line: QueuedInput } | { readonly kind: "mode" }

export class OpeningChat implements KeyTarget {
  readonly store: ChatStore
  readonly inputs: HistoryFile
  readonly completer: Completer
  readonly #waiting: QueuedStep[] = []
  #isLeft = false
  #isHandedOver = false
  #chat: OpenChat | undefined
  #sent = 0

  constructor(store: ChatStore, { inputs, cwd }: { readonly inputs: HistoryFile; readonly cwd: string }) {
    this.store = store
    this.inputs = inputs
    this.completer = new Completer({
      store,
      builtIn: SLASH_COMMANDS,
      ownCommands: async () => [], // known only once the conversation's settings are loaded
      filesBelow: (below) => projectFiles({ directory: cwd, below }),
    })
    store.dispatch({ type: "work", work: { type: "opening" } })
  }

  submit(text: string): void {
    if (this.#isHandedOver) this.#chat?.submit(text)
    else if (text.trim() !== "") this.#keep(text)
  }

  #keep(text: string): void {
    this.store.dispatch({ type: "submitted", text })
    this.inputs.add(text).catch((error: unknown) => this.store.fail(error))
    this.#wait({ kind: "line", line: { uuid: `early-${++this.#sent}`, text } })
  }

  nextMode(): void {
    if (this.#isHandedOver) this.#chat?.nextMode()
    else this.#wait({ kind: "mode" })
  }

  interrupt(): boolean {
    return this.#chat?.interrupt() ?? false
  }

  goBack(): void {
    if (this.#isHandedOver) this.#chat?.goBack()
  }

  expand(nth: number): void {
    this.#chat?.expand(nth)
  }

  print(title: string, lines: readonly string[]): void {
    this.#chat?.print(title, lines)
  }

  leave(): void {
    this.#isLeft = true
    this.#chat?.leave()
  }

  /** Carries out `first`, then the input typed meanwhile, in order. Later input comes after it. */
  async handOver(chat: OpenChat, first: readonly string[] = []): Promise<void> {
    this.#chat = chat
    if (this.#isLeft) chat.leave()
    for (const line of first) if (!this.#isLeft) await chat.perform(line)
    while (!this.#isLeft && this.#waiting.length > 0) {
      const next = this.#waiting.shift()!
      if (next.kind === "mode") chat.nextMode()
      else await chat.perform(this.store.inFull(next.line.text))
    }
    this.#isHandedOver = true // keys arrive here until the screen is drawn again
  }

  /** Input that was not sent: each submitted line and, if no chat was opened, the text in the input line. */
  unsent(): readonly string[] {
    const input = this.#chat ? [] : [this.store.snapshot().editor.text]
    const lines = [...this.#lines().map(({ text }) => text), ...input]
    return lines.filter((line) => line.trim() !== "").map((line) => this.store.inFull(line))
  }

  #wait(one: QueuedStep): void {
    this.#waiting.push(one)
    if (!this.#chat) this.store.dispatch({ type: "queued", queued: this.#lines() }) // later, the screen shows the agent's
  }

  #lines(): readonly QueuedInput[] {
    return this.#waiting.flatMap((one) => (one.kind === "line" ? [one.line] : []))
  }
}

export async function beginChat({ root, cwd, env }: Workspace): Promise<OpeningChat> {
  const { name, formerNames } = await resolveProject({ root, cwd, env })
  const inputs = historyFile(root, [...formerNames, name])
  const pastes = new Pastes(join(projectDirectory(root, name), "tool-results", "pasted"))
  return new OpeningChat(new ChatStore(await inputs.read(), { pastes }), { inputs, cwd })
}
