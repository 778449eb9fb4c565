/**
 * Handles `POST /v1/messages`: reads the request, gets a plan, relays the response, and reports the outcome to the plan. If a plan fails or
 * takes too long, the client's own bytes are sent.
 */
import type { IncomingMessage } from "node:http"
import type { Clock } from "@strata/core"
import { errorKind } from "@strata/core/base"
import { asBytes } from "../clients/body.ts"
import { CONVERSATION_HEADER } from "../clients/http/client-identity.ts"
import type { ParsedBodies } from "../clients/http/parsed-bodies.ts"
import { wantsJson } from "../clients/merged-answer.ts"
import type { ApiBody, RequestPlan } from "../clients/plan.ts"
import { overloaded, sendError, tooLarge } from "./api-error.ts"
import { type ByteBudget, decode, jsonObject, readBody, readBytes } from "./body.ts"
import { endToEnd, headerText, type RawHeaders, replaced, without } from "./headers.ts"
import { type ProxyLimits, type TimedResult, withinLimit } from "./limits.ts"
import { beginAnswer, breakOff, type ProxiedRequest, passThrough } from "./pass-through.ts"
import type { ClientRequest, RequestPlanner } from "./plans.ts"
import { isSuccess, relayAnswer } from "./relay-answer.ts"

const PASSED_THROUGH = "strata-passed-through"
const MAX_REFUSAL_BYTES = 16 * 1024 * 1024 // larger than any error

export interface MessagesRoute {
  readonly plans: RequestPlanner
  readonly limits: ProxyLimits
  readonly held: ByteBudget
  readonly known: ParsedBodies
  readonly clock: Clock
}

/** Returns a log line about the outcome. */
export async function answerMessages(passing: ProxiedRequest, route: MessagesRoute): Promise<string> {
  const { request, response } = passing
  const { limits, held, known } = route
  const read = await readBody(request, { max: limits.bodyBytes, held, known })
  if (read.kind !== "read") {
    sendError(response, read.kind === "full" ? overloaded("the proxy's memory is full") : tooLarge(limits.bodyBytes))
    return read.kind
  }
  const { sent, json } = read
  try {
    if (json === undefined) return await passUnchanged(passing, { sent })
    const taken = await take(json, passing, route)
    if (taken.kind === "gone") return "the client went away"
    if (taken.kind === "passed") return await passUnchanged(passing, { sent, why: taken.why })
    const { refusal, refusalCode: code } = taken.plan
    if (refusal !== undefined) {
      sendError(response, { status: 400, type: "invalid_request_error", message: refusal, code })
      return `not sent: ${code ?? "the user declined"}`
    }
    return await new AnswerRelay(passing, route, taken.plan).run(sent)
  } finally {
    read.release()
  }
}

async function passUnchanged(
  passing: ProxiedRequest,
  { sent, why }: { readonly sent: Buffer; readonly why?: string | undefined },
): Promise<string> {
  const status = await passThrough(passing, { body: sent, added: passedHeader(why) })
  return why === undefined ? `${status}` : `${status}, passed through: ${why}`
}

const passedHeader = (why: string | undefined): RawHeaders =>
  why === undefined ? [] : [PASSED_THROUGH, headerText(why)]

type PlanResult =
  | { readonly kind: "planned"; readonly plan: RequestPlan }
  | { readonly kind: "passed"; readonly why: string | undefined }
  | { readonly kind: "gone" }

async function take(
  json: Pick<ClientRequest, "body" | "raw">,
  { request, path, signal }: ProxiedRequest,
  { plans, limits, clock }: MessagesRoute,
): Promise<PlanResult> {
  const clientRequest: ClientRequest = { headers: request.headers, query: queryOf(path), ...json, signal }
  // a plan that resolves too late is ended, because nothing will be sent for it
  const close = (plan: RequestPlan | undefined) =>
    void withinLimit(async () => plan?.brokeOff(undefined), { ms: limits.planMs, clock })
  const outcome = await withinLimit(() => plans.take(clientRequest), { ms: limits.planMs, clock, late: close })
  if (signal.aborted && outcome.kind === "done") close(outcome.value)
  if (signal.aborted) return { kind: "gone" }
  if (outcome.kind !== "done") return { kind: "passed", why: failureOf(outcome, limits) }
  return outcome.value === undefined ? { kind: "passed", why: undefined } : { kind: "planned", plan: outcome.value }
}

const queryOf = (path: string): string => (path.includes("?") ? path.slice(path.indexOf("?")) : "")

/** The kind of failure only: an error message could quote the conversation. */
const failureOf = (outcome: Exclude<TimedResult<unknown>, { kind: "done" }>, { planMs }: ProxyLimits): string =>
  outcome.kind === "late" ? `no decision within ${planMs / 1000} seconds` : `a failure (${errorKind(outcome.error)})`

/** Runs a planned request, from the first byte sent to the end of its response. */
class AnswerRelay {
  readonly #passing: ProxiedRequest
  readonly #route: MessagesRoute
  readonly #plan: RequestPlan
  readonly #problems: string[] = []

  constructor(passing: ProxiedRequest, route: MessagesRoute, plan: RequestPlan) {
    this.#passing = passing
    this.#route = route
    this.#plan = plan
  }

  async run(own: Buffer): Promise<string> {
    const { passedThrough: why } = this.#plan
    const body = this.#bytes(this.#plan.body)
    let answer = await this.#send(body ?? own, body === undefined)
    let isSecond = false
    while (!isSuccess(answer)) {
      const other = await this.#relayRefusal(answer, isSecond)
      if (other === undefined) return this.#logLine([`${answer.statusCode}`])
      isSecond = true
      answer = await this.#send(other)
    }
    await relayAnswer(answer, {
      response: this.#passing.response,
      signal: this.#passing.signal,
      added: passedHeader(why),
      handlers: {
        hiddenTool: this.#plan.hiddenTool,
        isJson: wantsJson(this.#plan.body ?? {}),
        again: (message) => this.#sendNext(message),
        completed: (message) => this.#report("answered", () => this.#plan.answered(message)),
        brokenOff: (partial) => this.#reportBreak(partial),
      },
    })
    const how = why !== undefined ? `passed through: ${why}` : this.#plan.body === undefined ? "watched" : "replaced"
    return this.#logLine([`${answer.statusCode}`, how, ...(isSecond ? ["after a refusal"] : [])])
  }

  /** Sends the continuation of a response that calls only Strata's tool. */
  async #sendNext(message: ApiBody): Promise<IncomingMessage | undefined> {
    const next = await this.#report("again", () => this.#plan.again(message))
    const bytes = this.#bytes(next)
    return bytes && this.#answerTo(bytes, false)
  }

  /** Encodes a body. `undefined` if that fails: then the client's bytes are sent. */
  #bytes(body: ApiBody | undefined): Buffer | undefined {
    try {
      return body && asBytes(body)
    } catch (error) {
      this.#problems.push(`not written: ${errorKind(error)}`)
      return undefined
    }
  }

  async #send(body: Buffer, isOwn = false): Promise<IncomingMessage> {
    try {
      return await this.#answerTo(body, isOwn)
    } catch (error) {
      await this.#reportBreak(undefined)
      throw error
    }
  }

  #answerTo(body: Buffer, isOwn: boolean): Promise<IncomingMessage> {
    const { request, path, upstream, signal } = this.#passing
    const own = without(endToEnd(request.rawHeaders), [CONVERSATION_HEADER]) // the header is for Strata only
    const headers = replaced(own, "accept-encoding", "identity") // the response will be parsed
    return upstream.send({
      method: "POST",
      path,
      headers: isOwn ? headers : without(headers, ["content-encoding", "content-length"]),
      body,
      signal,
    })
  }

  /** Handles a refusal. Returns another body to send; otherwise the client has received the refusal. */
  async #relayRefusal(answer: IncomingMessage, isSecond: boolean): Promise<Buffer | undefined> {
    const { response } = this.#passing
    const read = await readBytes(answer, { max: MAX_REFUSAL_BYTES }).catch(() => undefined)
    const bytes = read?.kind === "read" ? read.bytes : undefined
    const error = bytes && (await errorIn(bytes, answer))
    const refusal = { status: answer.statusCode!, error, ...(isSecond && { isFinal: true }) }
    const other = this.#bytes(await this.#report("refused", () => this.#plan.refused(refusal)))
    if (other !== undefined && !isSecond) return other
    beginAnswer(response, answer, [...endToEnd(answer.rawHeaders), ...passedHeader(this.#plan.passedThrough)])
    if (bytes === undefined) breakOff(response)
    else response.end(bytes)
    return undefined
  }

  #reportBreak(partial: Readonly<Record<string, unknown>> | undefined): Promise<void> {
    this.#problems.push("broke off")
    return this.#report("brokeOff", () => this.#plan.brokeOff(partial))
  }

  /** Reports to the plan. An error of the plan cannot affect the response. */
  async #report<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    const { limits, clock } = this.#route
    const outcome = await withinLimit(call, { ms: limits.planMs, clock })
    if (outcome.kind === "done") return outcome.value
    this.#problems.push(`${what}: ${failureOf(outcome, limits)}`)
    return undefined
  }

  #logLine(parts: readonly string[]): string {
    return [...parts, ...this.#problems].join(", ")
  }
}

async function errorIn(bytes: Buffer, { headers }: IncomingMessage): Promise<unknown> {
  const plain = await decode(bytes, headers["content-encoding"], MAX_REFUSAL_BYTES)
  if (plain.kind !== "decoded") return undefined
  return jsonObject(plain.bytes) ?? plain.bytes.toString("utf8")
}
