/** A rule: one thing the API refuses beyond what the schema says, with the sentence it refuses it with. */
import type { ModelFacts } from "@strata/core"
import { invalidRequest } from "../api-error.ts"
import type { Turn } from "../conversation.ts"
import type { Dialect } from "../dialect.ts"
import type { MessagesBody } from "../wire.ts"
import type { Endpoint } from "./body-schema.ts"

/** A request whose body fits the schema. */
export interface ParsedRequest {
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  readonly body: MessagesBody
  readonly model: ModelFacts
  /** The messages, those of one role in a row merged. */
  readonly turns: readonly Turn[]
}

export interface Refusal {
  readonly message: string
  /** `details.error_code`, where the API gives one. */
  readonly code?: string
  readonly details?: Readonly<Record<string, unknown>>
}

export interface Rule {
  readonly name: string
  /** Says why the request is refused, if it is. */
  readonly refuses: (request: ParsedRequest) => string | Refusal | undefined
}

/** Throws the refusal of the first rule that has one. */
export function enforce(rules: readonly Rule[], request: ParsedRequest): void {
  for (const { refuses } of rules) {
    const refusal = refuses(request)
    if (typeof refusal === "string") throw invalidRequest(refusal)
    if (refusal) throw invalidRequest(refusal.message, refusal)
  }
}
