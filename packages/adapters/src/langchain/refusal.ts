/** A provider's refusal, independent of how its package wraps it. */
import { isRecord } from "./shapes.ts"

export interface ProviderRefusal {
  readonly status: number
  readonly error: unknown
}

const MAX_DEPTH = 5 // nested causes

/** `undefined` if no server responded with an error. */
export function refusalOf(failure: unknown): ProviderRefusal | undefined {
  let error = failure
  for (let depth = 0; depth < MAX_DEPTH && isObject(error); depth++) {
    const { status, statusCode, response, error: body, cause, message } = error as Readonly<Record<string, unknown>>
    const code = [status, statusCode, isRecord(response) ? response.status : undefined].find(isStatus)
    if (code !== undefined) return { status: code, error: body ?? { error: { message: String(message) } } }
    error = cause
  }
  return undefined
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null
const isStatus = (value: unknown): value is number => typeof value === "number" && value >= 400 && value < 600
