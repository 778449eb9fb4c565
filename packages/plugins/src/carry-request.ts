/**
 * `strata carry`: one JSON request, one JSON answer. An agent gives the messages of its context, in its own shape; where it also gives the
 * id of its session, the transcript on disk adds what its message type leaves out, and what earlier compactions took out of view.
 */
import {
  type CarriedRecord,
  type CarriedState,
  type CarryMessage,
  type CarryOptions,
  carry,
  StrataError,
} from "@strata/core"
import { reasonOf } from "@strata/core/internal/base/errors"
import { mainPath } from "@strata/core/internal/import/main-path"
import { isBoundary, type Message } from "@strata/core/internal/messages/messages"
import { CLIENTS, type Client, type Environment } from "./clients.ts"
import { plainMessages } from "./message-shapes.ts"
import { readTranscript, transcriptOf } from "./transcripts.ts"

export interface CarryRequest
  extends Pick<
    CarryOptions,
    "budget" | "keep" | "instructions" | "model" | "recall" | "mode" | "transcript" | "before"
  > {
  /** In the shape of the Messages API, or that of the client. */
  readonly messages: readonly unknown[]
  /** A summary that is written already. */
  readonly summary?: string
  readonly client?: Client
  /** The id of the session, to find its transcript. */
  readonly session?: string
  /** The sub-agent whose messages these are. */
  readonly agent?: string
  /** Whether the answer has the record as data, and the state for the next call. */
  readonly data?: boolean
}

export interface CarryAnswer {
  /** What takes the place of the messages that are not kept. Empty where nothing can be summarised. */
  readonly text: string
  /** The computed part of it. */
  readonly facts: string
  /** The places of the messages that stay as they are. */
  readonly kept: readonly number[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number; readonly kept: number }
  /** The transcript that was read. */
  readonly transcript?: string
  readonly record?: CarriedRecord
  readonly state?: CarriedState
}

/** A request as it comes in. `carry` checks the options that it is given. */
export function readCarryRequest(text: string): CarryRequest {
  const request = asJson(text)
  if (!Array.isArray(request?.messages)) throw new StrataError(`The request has no list "messages". Nothing was done.`)
  if (request.client !== undefined && !CLIENTS.includes(request.client))
    throw new StrataError(`The client must be one of ${CLIENTS.join(", ")}. Nothing was done.`)
  return request
}

function asJson(text: string): CarryRequest {
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    throw new StrataError(`The request is not JSON (${reasonOf(error)}). Nothing was done.`)
  }
}

export async function answerCarry(request: CarryRequest, env: Environment): Promise<CarryAnswer> {
  const { messages, client, session, agent, data = false, ...options } = request
  const given = plainMessages(messages, client)
  const found = client && session && !agent ? await transcriptOf(client, session, env) : undefined
  const lines = found ? await linesOf(found) : []
  const { inView, earlier } = placed(given, lines)
  const transcript = options.transcript ?? found
  const carried = await carry(inView, {
    ...options,
    ...(earlier.length > 0 ? { earlier } : {}),
    ...(transcript === undefined ? {} : { transcript }),
  })
  const held = new Set<CarryMessage>(carried.kept)
  return {
    text: carried.text,
    facts: carried.facts,
    kept: inView.flatMap((message, at) => (held.has(message) ? at : [])),
    tokens: carried.tokens,
    ...(found === undefined ? {} : { transcript: found }),
    ...(data ? { record: carried.record, state: carried.state } : {}),
  }
}

async function linesOf(path: string): Promise<readonly Message[]> {
  const imported = await readTranscript(path).catch(() => undefined) // without it the given messages are enough
  return imported ? mainPath(imported.messages).filter((message) => !isBoundary(message)) : []
}

/** The lines of the transcript in place of the given messages that they are, and those that are no longer in view. */
function placed(given: readonly CarryMessage[], lines: readonly Message[]) {
  const byId = new Map(lines.map((line) => [line.uuid, line]))
  const inView = given.map((message): CarryMessage => ("id" in message && byId.get(message.id ?? "")) || message)
  const shown = new Set(inView)
  return { inView, earlier: lines.filter((line) => !shown.has(line)) }
}
