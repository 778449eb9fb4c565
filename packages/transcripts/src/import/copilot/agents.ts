/** The sub-agents of a Copilot session. The call that started one names it; its events carry the id of that call. */

import type { Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { contentOf, isToolUse, type Message } from "@strata/core/messages"
import { Chain } from "../chain.ts"
import { type Fields, textAt } from "../foreign-json.ts"
import type { ImportedAgent } from "../importer.ts"

const MOST_CHARACTERS = 200 // of a description or a summary

interface Ending {
  readonly message: Uuid
  readonly content: string
  readonly failed: boolean
}

export class CopilotAgents {
  readonly #seed: string
  readonly #chains = new Map<string, Chain>()
  readonly #facts = new Map<string, Fields>()
  readonly #endings = new Map<string, Ending>()

  constructor(seed: string) {
    this.#seed = seed
  }

  chainOf(callId: string): Chain {
    const chain = this.#chains.get(callId) ?? new Chain(`${this.#seed}:${callId}`)
    this.#chains.set(callId, chain)
    return chain
  }

  noted(type: string, data: Fields): void {
    const id = textAt(data, "toolCallId")
    if (id === undefined || type !== "subagent.started") return
    this.#facts.set(id, data)
    this.chainOf(id)
  }

  /** A call ended. Most calls start no agent. */
  ended(callId: string, ending: Ending): void {
    this.#endings.set(callId, ending)
  }

  all(messages: readonly Message[]): readonly ImportedAgent[] {
    return [...this.#chains].map(([callId, chain]): ImportedAgent => {
      const [facts, ending] = [this.#facts.get(callId), this.#endings.get(callId)]
      const start = messages.find((message) => callsIn(message).includes(callId))
      const name = textAt(facts, "agentName")
      const model = chain.messages.flatMap((m) => (m.type === "assistant" ? (m.message.model ?? []) : [])).at(-1)
      return {
        id: isSafeId(callId) ? callId : uuidFrom(callId),
        name: name ?? callId,
        kind: "wait",
        description: oneLine(textAt(facts, "agentDisplayName") ?? textAt(facts, "agentDescription") ?? name ?? callId),
        ...(name === undefined ? {} : { definition: name }),
        model: model ?? "unknown",
        callId,
        ...(start ? { startedIn: start.uuid } : {}),
        ...(ending ? { endedIn: ending.message } : {}),
        status: ending ? (ending.failed ? "failed" : "completed") : "killed",
        summary: ending ? oneLine(ending.content) : "The transcript does not say how it ended.",
        messages: chain.messages,
      }
    })
  }
}

const callsIn = (message: Message): readonly string[] =>
  message.type === "assistant" ? contentOf(message).flatMap((block) => (isToolUse(block) ? block.id : [])) : []

const oneLine = (text: string): string => [...text.replace(/\s+/g, " ").trim()].slice(0, MOST_CHARACTERS).join("")
