/**
 * Decides whether the API would accept a request: first its shape, then the model, then the rules. The API's order is
 * not documented; this one goes from the outside in.
 */
import type { ModelFacts } from "@strata/core/tokens"
import { ApiError, invalidRequest } from "../api-error.ts"
import { toTurns } from "../conversation.ts"
import type { Dialect } from "../dialect.ts"
import type { MessagesBody } from "../wire.ts"
import { bodySchema, type Endpoint } from "./body-schema.ts"
import { CACHE_CONTROL_RULES } from "./cache-control-rules.ts"
import { COMPACTION_RULES } from "./compaction-rules.ts"
import { MEDIA_RULES } from "./media-rules.ts"
import { MESSAGE_RULES, THINKING_FIRST_RULE } from "./message-rules.ts"
import { PAIRING_RULES } from "./pairing-rules.ts"
import { PARAMETER_RULES, VERSION_RULES } from "./parameter-rules.ts"
import { enforce, type ParsedRequest, type Rule } from "./rule.ts"

/** Every rule, in the order they are applied. */
export const RULES: readonly Rule[] = [
  ...PARAMETER_RULES,
  ...MESSAGE_RULES,
  ...VERSION_RULES,
  ...COMPACTION_RULES,
  ...PAIRING_RULES,
  THINKING_FIRST_RULE,
  ...MEDIA_RULES,
  ...CACHE_CONTROL_RULES,
]

export interface Submission {
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  /** The body, parsed from JSON. */
  readonly json: unknown
  readonly findModel: (name: string) => ModelFacts | undefined
}

/** Returns the request if the API would accept it, and throws the API's error if not. */
export function validate({ endpoint, dialect, json, findModel }: Submission): ParsedRequest {
  const issue = bodySchema(endpoint, dialect)(json, "")
  if (issue) throw invalidRequest(issue.path ? `${issue.path}: ${issue.message}` : issue.message)
  const body = json as MessagesBody

  const model = findModel(body.model)
  if (!model) throw new ApiError(404, `model: ${body.model}`)

  const request: ParsedRequest = { endpoint, dialect, body, model, turns: toTurns(body.messages) }
  enforce(RULES, request)
  return request
}
