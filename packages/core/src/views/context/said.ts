/**
 * What the messages in view say about the permission mode and the date. Both change by themselves, so they are said in a message where
 * they change. After a boundary nothing is said any more.
 */
import type { PermissionMode } from "../../base/vocabulary.ts"
import type { Message } from "../../messages/messages.ts"
import { followCalls, type OpenCall } from "../record/tool-calls.ts"

export class Said {
  readonly #open = new Map<string, OpenCall>()
  readonly #shows: (toolUseId: string) => boolean
  #mode: PermissionMode | undefined
  /** The call whose result says it, if no attachment does. */
  #sayingCall: string | undefined
  #date: string | undefined

  /** `shows`: whether a result is still whole in view. */
  constructor(shows: (toolUseId: string) => boolean) {
    this.#shows = shows
  }

  get mode(): PermissionMode | undefined {
    return this.#sayingCall === undefined || this.#shows(this.#sayingCall) ? this.#mode : undefined
  }

  get date(): string | undefined {
    return this.#date
  }

  add(message: Message): void {
    if (message.type === "attachment") {
      const { attachment } = message
      if (attachment.type === "permission_mode") this.#setMode(attachment.mode)
      if (attachment.type === "plan_mode") this.#setMode(attachment.active ? "plan" : undefined)
      if (attachment.type === "date") this.#date = attachment.date
      return
    }
    // the results of these calls say that the mode has changed; which one follows plan mode, they do not say
    for (const { id, tool, failed } of followCalls(this.#open, message)) {
      if (!failed && tool === "EnterPlanMode") this.#setMode("plan", id)
      if (!failed && tool === "ExitPlanMode") this.#setMode(undefined)
    }
  }

  forget(): void {
    this.#open.clear()
    this.#setMode(undefined)
    this.#date = undefined
  }

  #setMode(mode: PermissionMode | undefined, sayingCall?: string): void {
    this.#mode = mode
    this.#sayingCall = sayingCall
  }
}
