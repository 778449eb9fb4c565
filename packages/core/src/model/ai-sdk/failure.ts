/** What an error of the AI SDK says. Recognised by its fields: a program may hold several copies of its classes. */
import type { ProviderFailure } from "../provider-failure.ts"

interface AiSdkError {
  readonly name?: string
  readonly message?: string
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
}

/** Errors that the AI SDK raises itself, as the type a provider would give them. All others are connection failures. */
const TYPE_OF_NAME: Readonly<Record<string, string>> = {
  AI_LoadAPIKeyError: "authentication_error",
  AI_LoadSettingError: "invalid_request_error",
  AI_InvalidArgumentError: "invalid_request_error",
  AI_InvalidPromptError: "invalid_request_error",
  AI_NoSuchModelError: "invalid_request_error",
  AI_UnsupportedFunctionalityError: "invalid_request_error",
}

/** Also reads the bare object or text that some providers send in the middle of a stream. */
export function readFailure(error: unknown): ProviderFailure | undefined {
  if (typeof error === "string") return { said: error }
  if (typeof error !== "object" || error === null) return undefined
  const { name = "", message, statusCode, responseHeaders = {}, responseBody }: AiSdkError = error
  const isError = error instanceof Error
  if (isError && !name.startsWith("AI_") && statusCode === undefined) return undefined
  const body = bodyOf(isError ? responseBody : error)
  return {
    status: isRefusal(statusCode) ? statusCode : undefined,
    type: TYPE_OF_NAME[name] ?? textIn(body.type),
    code: textIn(body.code) ?? textIn((body.details as { error_code?: unknown } | undefined)?.error_code),
    said: textIn(body.message) ?? message ?? "",
    requestId: responseHeaders["request-id"] ?? responseHeaders["x-request-id"],
    header: (header) => responseHeaders[header],
  }
}

/** `{"error": {"type": …, "message": …}}`, with or without the wrapping, parsed or not. A proxy's HTML page is not one. */
function bodyOf(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = typeof given === "string" ? JSON.parse(given) : given
    const { error = body } = (body ?? {}) as { error?: unknown }
    return typeof error === "object" && error !== null ? (error as Record<string, unknown>) : { message: error }
  } catch {
    return {}
  }
}

/** With any other status the answer began and then broke off. */
const isRefusal = (status: number | undefined) => status !== undefined && status >= 400

const textIn = (value: unknown) => (typeof value === "string" ? value : undefined)
