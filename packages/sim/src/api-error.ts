/** An error as the API returns it: status, type, message, and sometimes a code that programs can act on. */

const TYPE_OF_STATUS = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
} as const

export type ErrorStatus = keyof typeof TYPE_OF_STATUS

export interface ErrorExtras {
  /** `details.error_code` of the body. */
  readonly code?: string
  /** Further fields of `details`. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly type: string
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, string>>
  private readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(status: ErrorStatus, message: string, { code, details, headers = {} }: ErrorExtras = {}) {
    super(message)
    this.name = "ApiError"
    this.status = status
    this.type = TYPE_OF_STATUS[status]
    this.code = code
    this.headers = headers
    this.details = code ? { error_code: code, ...details } : details
  }

  /** The response body. */
  toBody(requestId: string) {
    return { type: "error", error: this.toEvent(), request_id: requestId }
  }

  /** The inner object, which a stream's `error` event carries too. */
  toEvent() {
    return { type: this.type, message: this.message, ...(this.details && { details: this.details }) }
  }
}

export const invalidRequest = (message: string, extras?: ErrorExtras) => new ApiError(400, message, extras)
