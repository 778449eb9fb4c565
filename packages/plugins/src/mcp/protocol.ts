/**
 * The subset of the Model Context Protocol that this server needs: JSON-RPC 2.0, one response per request. Implemented here because loading
 * the official server takes longer than this one may take to start.
 */
import { errorReason } from "@strata/core/base"

/** Newest first. */
export const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

export const ERRORS = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602, internal: -32_603 } as const

/** A request that cannot be handled. The message is for the client. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError"
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export type Parameters = Readonly<Record<string, unknown>>

/** Handlers by method. `client` is the name by which the client introduced itself. */
export type Methods = Readonly<Record<string, (parameters: Parameters, client: string) => unknown>>

interface RpcResponse {
  readonly jsonrpc: "2.0"
  readonly id: string | number | null
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const UNKNOWN_CLIENT = "an MCP client"
const MAX_NAME = 60

/** The client's name from its `initialize` request, as a single line of limited length. */
export function clientIn(message: unknown): string | undefined {
  const { method, params } = Object(message)
  if (method !== "initialize") return undefined
  const name = Object(Object(params).clientInfo).name
  const plain = typeof name === "string" ? name.replace(/[^\w .-]/g, "").trim() : ""
  return plain.slice(0, MAX_NAME) || UNKNOWN_CLIENT
}

/** Handles one message, or a list of them as older clients send. Returns nothing if no response is due. */
export async function respond(message: unknown, methods: Methods, client = UNKNOWN_CLIENT): Promise<unknown> {
  if (!Array.isArray(message)) return respondToOne(message, methods, client)
  if (message.length === 0) return failed(null, new ProtocolError(ERRORS.request, "The list of messages is empty."))
  const answers = await Promise.all(message.map((one) => respondToOne(one, methods, client)))
  const due = answers.filter((answer) => answer !== undefined)
  return due.length === 0 ? undefined : due
}

export const unreadable = (): RpcResponse => failed(null, new ProtocolError(ERRORS.parse, "The message is not JSON."))

async function respondToOne(message: unknown, methods: Methods, client: string): Promise<RpcResponse | undefined> {
  const { jsonrpc, id, method, params } = Object(message)
  const isNotification = id === undefined
  if (jsonrpc !== "2.0" || typeof method !== "string") {
    const isAnswer = jsonrpc === "2.0" && !isNotification && method === undefined
    if (isAnswer) return undefined // this server sends no requests
    return failed(null, new ProtocolError(ERRORS.request, "The message is not a JSON-RPC 2.0 request."))
  }
  if (isNotification) return undefined
  if (typeof id !== "string" && typeof id !== "number")
    return failed(null, new ProtocolError(ERRORS.request, "The id must be a string or a number."))
  try {
    if (!Object.hasOwn(methods, method))
      throw new ProtocolError(ERRORS.method, `This server has no method ${JSON.stringify(method.slice(0, 80))}.`)
    return { jsonrpc: "2.0", id, result: await methods[method]!(Object(params), client) }
  } catch (error) {
    return failed(id, error)
  }
}

const failed = (id: RpcResponse["id"], error: unknown): RpcResponse => ({
  jsonrpc: "2.0",
  id,
  error: { code: error instanceof ProtocolError ? error.code : ERRORS.internal, message: errorReason(error) },
})
