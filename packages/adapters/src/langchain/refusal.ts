/** What a provider's refusal says, however its package wraps it. */
import { isRecord } from "./shapes.ts"

export interface ReadRefusal {
  readonly status: number
  readonly error: unknown
}

const DEEPEST = 5 // causes

/** `undefined`: no server answered with an error. */
export function refusalOf(failure: unknown): ReadRefusal | undefined {
  let error = failure
  for (let depth = 0; depth < DEEPEST && isObject(error); depth++) {
    const { status, statusCode, response, error: body, cause, message } = error as Readonly<Record<string, unknown>>
    const code = [status, statusCode, isRecord(response) ? response.status : undefined].find(isStatus)
    if (code !== undefined) return { status: code, error: body ?? { error: { message: String(message) } } }
    error = cause
  }
  return undefined
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null
const isStatus = (value: unknown): value is number => typeof value === "number" && value >= 400 && value < 600
