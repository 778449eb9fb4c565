/**
 * `POST /v1/messages`: reads the request, asks what to send, passes the answer on, and tells the plan what became of it. A plan that fails
 * or takes too long costs nothing but its work: the client's own bytes are sent.
 */
import type { IncomingMessage } from "node:http"
import type { Clock } from "@strata/core"
import { errorKind } from "@strata/core/base"
import { asBytes } from "../callers/body.ts"
import { CONVERSATION_HEADER } from "../callers/http/client-identity.ts"
import type { ParsedBodies } from "../callers/http/parsed-bodies.ts"
import type { Body, Plan } from "../callers/plan.ts"
import { wantsJson } from "../callers/spliced-answer.ts"
import { isGood, relayAnswer } from "./answer.ts"
import { overloaded, sendError, tooLarge } from "./api-error.ts"
import { decode, type HeldBytes, jsonObject, readBody, readBytes } from "./body.ts"
import { endToEnd, headerText, type RawHeaders, replaced, without } from "./headers.ts"
import { type Outcome, type ProxyLimits, withinLimit } from "./limits.ts"
import { beginAnswer, breakOff, type Passing, passThrough } from "./pass-through.ts"
import type { ClientRequest, Plans } from "./plans.ts"

const PASSED_THROUGH = "strata-passed-through"
const MAX_REFUSAL_BYTES = 16 * 1024 * 1024 // no error is longer

export interface MessagesRoute {
  readonly plans: Plans
  readonly limits: ProxyLimits
  readonly held: HeldBytes
  readonly known: ParsedBodies
  readonly clock: Clock
}

/** What was done, for the log. */
export async function answerMessages(passing: Passing, route: MessagesRoute): Promise<string> {
  const { request, response } = passing
  const { limits, held, known } = route
  const read = await readBody(request, { max: limits.bodyBytes, held, known })
  if (read.kind !== "read") {
    sendError(response, read.kind === "full" ? overloaded("the proxy has no room for it") : tooLarge(limits.bodyBytes))
    return read.kind
  }
  const { sent, json } = read
  try {
    if (json === undefined) return await passed(passing, { sent })
    const taken = await take(json, passing, route)
    if (taken.kind === "gone") return "the client went away"
    if (taken.kind === "passed") return await passed(passing, { sent, why: taken.why })
    const { refusal, refusalCode: code } = taken.plan
    if (refusal !== undefined) {
      sendError(response, { status: 400, type: "invalid_request_error", message: refusal, code })
      return `not sent: ${code ?? "the person said no"}`
    }
    return await new Course(passing, route, taken.plan).run(sent)
  } finally {
    read.giveBack()
  }
}

async function passed(
  passing: Passing,
  { sent, why }: { readonly sent: Buffer; readonly why?: string | undefined },
): Promise<string> {
  const status = await passThrough(passing, { body: sent, added: passedHeader(why) })
  return why === undefined ? `${status}` : `${status}, passed through: ${why}`
}

const passedHeader = (why: string | undefined): RawHeaders =>
  why === undefined ? [] : [PASSED_THROUGH, headerText(why)]

type Taken =
  | { readonly kind: "planned"; readonly plan: Plan }
  | { readonly kind: "passed"; readonly why: string | undefined }
  | { readonly kind: "gone" }

async function take(
  json: Pick<ClientRequest, "body" | "raw">,
  { request, path, signal }: Passing,
  { plans, limits, clock }: MessagesRoute,
): Promise<Taken> {
  const asked: ClientRequest = { headers: request.headers, query: queryOf(path), ...json, signal }
  // a plan that comes too late is closed: nothing will be sent for it
  const close = (plan: Plan | undefined) =>
    void withinLimit(async () => plan?.brokeOff(undefined), { ms: limits.planMs, clock })
  const outcome = await withinLimit(() => plans.take(asked), { ms: limits.planMs, clock, late: close })
  if (signal.aborted && outcome.kind === "done") close(outcome.value)
  if (signal.aborted) return { kind: "gone" }
  if (outcome.kind !== "done") return { kind: "passed", why: failureOf(outcome, limits) }
  return outcome.value === undefined ? { kind: "passed", why: undefined } : { kind: "planned", plan: outcome.value }
}

const queryOf = (path: string): string => (path.includes("?") ? path.slice(path.indexOf("?")) : "")

/** Its kind only: what an error says can quote the conversation. */
const failureOf = (outcome: Exclude<Outcome<unknown>, { kind: "done" }>, { planMs }: ProxyLimits): string =>
  outcome.kind === "late" ? `no decision within ${planMs / 1000} seconds` : `a failure (${errorKind(outcome.error)})`

/** A planned request, from the first byte sent to the last one answered. */
class Course {
  readonly #passing: Passing
  readonly #route: MessagesRoute
  readonly #plan: Plan
  readonly #problems: string[] = []

  constructor(passing: Passing, route: MessagesRoute, plan: Plan) {
    this.#passing = passing
    this.#route = route
    this.#plan = plan
  }

  async run(own: Buffer): Promise<string> {
    const { passedThrough: why } = this.#plan
    const body = this.#bytes(this.#plan.body)
    let answer = await this.#send(body ?? own, body === undefined)
    let isSecond = false
    while (!isGood(answer)) {
      const other = await this.#refused(answer, isSecond)
      if (other === undefined) return this.#said([`${answer.statusCode}`])
      isSecond = true
      answer = await this.#send(other)
    }
    await relayAnswer(answer, {
      response: this.#passing.response,
      signal: this.#passing.signal,
      added: passedHeader(why),
      course: {
        hiddenTool: this.#plan.hiddenTool,
        isJson: wantsJson(this.#plan.body ?? {}),
        again: (message) => this.#again(message),
        whole: (message) => this.#tell("answered", () => this.#plan.answered(message)),
        brokenOff: (partial) => this.#brokeOff(partial),
      },
    })
    const how = why !== undefined ? `passed through: ${why}` : this.#plan.body === undefined ? "watched" : "replaced"
    return this.#said([`${answer.statusCode}`, how, ...(isSecond ? ["after a refusal"] : [])])
  }

  /** What continues an answer that only asks our tool. */
  async #again(message: Body): Promise<IncomingMessage | undefined> {
    const next = await this.#tell("again", () => this.#plan.again(message))
    const bytes = this.#bytes(next)
    return bytes && this.#answerTo(bytes, false)
  }

  /** `undefined` also where it cannot be written: what the client sent is sent then. */
  #bytes(body: Body | undefined): Buffer | undefined {
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
      await this.#brokeOff(undefined)
      throw error
    }
  }

  #answerTo(body: Buffer, isOwn: boolean): Promise<IncomingMessage> {
    const { request, path, upstream, signal } = this.#passing
    const own = without(endToEnd(request.rawHeaders), [CONVERSATION_HEADER]) // it is for us
    const headers = replaced(own, "accept-encoding", "identity") // it will be read
    return upstream.send({
      method: "POST",
      path,
      headers: isOwn ? headers : without(headers, ["content-encoding", "content-length"]),
      body,
      signal,
    })
  }

  /** Another body to send. Without one, the client has got the refusal. */
  async #refused(answer: IncomingMessage, isSecond: boolean): Promise<Buffer | undefined> {
    const { response } = this.#passing
    const read = await readBytes(answer, { max: MAX_REFUSAL_BYTES }).catch(() => undefined)
    const bytes = read?.kind === "read" ? read.bytes : undefined
    const error = bytes && (await errorIn(bytes, answer))
    const refusal = { status: answer.statusCode!, error, ...(isSecond && { isFinal: true }) }
    const other = this.#bytes(await this.#tell("refused", () => this.#plan.refused(refusal)))
    if (other !== undefined && !isSecond) return other
    beginAnswer(response, answer, [...endToEnd(answer.rawHeaders), ...passedHeader(this.#plan.passedThrough)])
    if (bytes === undefined) breakOff(response)
    else response.end(bytes)
    return undefined
  }

  #brokeOff(partial: Readonly<Record<string, unknown>> | undefined): Promise<void> {
    this.#problems.push("broke off")
    return this.#tell("brokeOff", () => this.#plan.brokeOff(partial))
  }

  /** A plan that fails now cannot harm the answer. */
  async #tell<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    const { limits, clock } = this.#route
    const outcome = await withinLimit(call, { ms: limits.planMs, clock })
    if (outcome.kind === "done") return outcome.value
    this.#problems.push(`${what}: ${failureOf(outcome, limits)}`)
    return undefined
  }

  #said(parts: readonly string[]): string {
    return [...parts, ...this.#problems].join(", ")
  }
}

async function errorIn(bytes: Buffer, { headers }: IncomingMessage): Promise<unknown> {
  const plain = await decode(bytes, headers["content-encoding"], MAX_REFUSAL_BYTES)
  if (plain.kind !== "decoded") return undefined
  return jsonObject(plain.bytes) ?? plain.bytes.toString("utf8")
}
