/** A rule: one restriction of the API beyond the schema, with its message. */
import type { ModelFacts } from "@strata/core/tokens"
import type { Dialect } from "../api-dialect.ts"
import { invalidRequest } from "../api-error.ts"
import type { Turn } from "../conversation.ts"
import type { MessagesBody } from "../wire.ts"
import type { Endpoint } from "./body-schema.ts"

/** A request whose body fits the schema. */
export interface ParsedRequest {
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  readonly body: MessagesBody
  readonly model: ModelFacts
  /** The messages, with consecutive ones of one role merged. */
  readonly turns: readonly Turn[]
}

export interface Refusal {
  readonly message: string
  /** `details.error_code`, if the API sets one. */
  readonly code?: string
  readonly details?: Readonly<Record<string, unknown>>
}

export interface Rule {
  readonly name: string
  /** The reason to refuse the request, or `undefined` to accept it. */
  readonly refuses: (request: ParsedRequest) => string | Refusal | undefined
}

/** Throws the error of the first rule that refuses the request. */
export function enforce(rules: readonly Rule[], request: ParsedRequest): void {
  for (const { refuses } of rules) {
    const refusal = refuses(request)
    if (typeof refusal === "string") throw invalidRequest(refusal)
    if (refusal) throw invalidRequest(refusal.message, refusal)
  }
}
