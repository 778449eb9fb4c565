/**
 * What the messages in view say about the permission mode, the date and the tools that are not loaded. These change by themselves, so each is
 * said in a message where it changes. After a boundary nothing is said any more.
 */
import type { PermissionMode } from "../../base/vocabulary.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { Message } from "../../messages/messages.ts"
import { followCalls, type OpenCall } from "../record/tool-calls.ts"

type DeferredListing = Extract<Attachment, { type: "deferred_tools" }>

export class Said {
  readonly #open = new Map<string, OpenCall>()
  readonly #shows: (toolUseId: string) => boolean
  #mode: PermissionMode | undefined
  /** The call whose result says it, if no attachment does. */
  #sayingCall: string | undefined
  #date: string | undefined
  #deferred: DeferredListing | undefined

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

  /** The last list of tools that are not loaded. */
  get deferred(): DeferredListing | undefined {
    return this.#deferred
  }

  add(message: Message): void {
    if (message.type === "attachment") {
      const { attachment } = message
      if (attachment.type === "permission_mode") this.#setMode(attachment.mode)
      if (attachment.type === "plan_mode") this.#setMode(attachment.active ? "plan" : undefined)
      if (attachment.type === "date") this.#date = attachment.date
      if (attachment.type === "deferred_tools") this.#deferred = attachment
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
    this.#deferred = undefined
  }

  #setMode(mode: PermissionMode | undefined, sayingCall?: string): void {
    this.#mode = mode
    this.#sayingCall = sayingCall
  }
}
