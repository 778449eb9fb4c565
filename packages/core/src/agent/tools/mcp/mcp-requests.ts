/**
 * Answers requests of a server. Its root is the project's directory. Its questions are forwarded to the user, one per field. If nobody is
 * present or the user does not answer, they are declined.
 */
import { basename } from "node:path"
import { pathToFileURL } from "node:url"
import type { Client, ElicitRequest, ElicitResult, PrimitiveSchemaDefinition } from "@modelcontextprotocol/client"
import { escapeInvisible } from "../../../base/text.ts"
import { clip } from "../../../tools/defaults.ts"
import type { ToolContext } from "../../../tools/tool.ts"
import type { McpSampling } from "./mcp-sampling.ts"

export type AskUser = NonNullable<ToolContext["promptUser"]>

export interface ServerRequests {
  readonly server: string
  /** The project's directory. */
  readonly root: string
  /** Asks the user of the running call. `undefined` if nobody can be asked. */
  readonly promptUser: () => AskUser | undefined
  readonly sampling: McpSampling
}

const MESSAGE_CHARACTERS = 2_000
const FIELD_CHARACTERS = 200

export const CAPABILITIES = { roots: {}, elicitation: { form: {} } } as const

export function answerRequests(client: Client, { server, root, promptUser, sampling }: ServerRequests): void {
  client.setRequestHandler("roots/list", async () => ({
    roots: [{ uri: pathToFileURL(root).href, name: basename(root) }],
  }))
  client.setRequestHandler("elicitation/create", ({ params }) => elicit(server, params, promptUser()))
  if (sampling.isOffered)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
      sampling.answer(params, { promptUser: promptUser(), signal: mcpReq.signal }),
    )
  client.fallbackRequestHandler = async ({ method }) => {
    throw Object.assign(new Error(REFUSED[method] ?? `Strata does not offer ${method}`), { code: METHOD_NOT_FOUND })
  }
}

const METHOD_NOT_FOUND = -32_601
const REFUSED: Readonly<Record<string, string>> = {
  "sampling/createMessage": "Strata does not let servers use its model. Return the content, and the agent works on it",
}

async function elicit(
  server: string,
  params: ElicitRequest["params"],
  promptUser: AskUser | undefined,
): Promise<ElicitResult> {
  if (!promptUser || !("requestedSchema" in params)) return { action: "decline" }
  const asks = (place = "") =>
    `The MCP server ${escapeText(server)} asks${place}: ${escapeText(params.message, MESSAGE_CHARACTERS)}`
  const { properties, required = [] } = params.requestedSchema
  const fields = Object.entries(properties) as [string, PrimitiveSchemaDefinition][]
  if (fields.length === 0) {
    const answer = await promptUser({ text: asks(), options: [ACCEPT, DECLINE] })
    return answer === ACCEPT ? { action: "accept", content: {} } : { action: "decline" }
  }
  const content: NonNullable<ElicitResult["content"]> = {}
  for (const [index, [name, field]] of fields.entries()) {
    const isRequired = required.includes(name)
    const message = asks(fields.length > 1 ? ` (${index + 1} of ${fields.length})` : "")
    const value = await askField(promptUser, { message, name, field, isRequired })
    if (value === DECLINED) return { action: "decline" }
    if (value !== undefined) content[name] = value
  }
  return { action: "accept", content }
}

const ACCEPT = "Yes"
const DECLINE = "Decline"
const SKIP = "Leave it empty"
const DECLINED: unique symbol = Symbol("declined")

interface Field {
  readonly message: string
  readonly name: string
  readonly field: PrimitiveSchemaDefinition
  readonly isRequired: boolean
}

type Value = NonNullable<ElicitResult["content"]>[string]

async function askField(
  ask: AskUser,
  { message, name, field, isRequired }: Field,
): Promise<Value | undefined | typeof DECLINED> {
  const description = [field.title ?? name, field.description]
    .filter((text) => text !== undefined)
    .map((text) => escapeText(text))
  const choices = choicesOf(field)
  const proposal = proposalOf(field, choices)
  const labels = new Set([...(proposal ? [proposal.label] : []), ...choices.map(({ label }) => label)])
  const options = [...labels, ...(isRequired ? [] : [SKIP]), DECLINE]
  const answer = await ask({ text: `${message}\n${description.join(": ")}`, options })
  if (answer === undefined || answer === DECLINE) return DECLINED
  if (proposal && (answer === proposal.label || answer.trim() === "")) return proposal.value
  if (!isRequired && (answer === SKIP || answer.trim() === "")) return undefined
  const chosen = choices.find(({ label, value }) => label === answer || String(value) === answer)
  if (chosen) return field.type === "array" ? [String(chosen.value)] : chosen.value
  if (choices.length > 0 && field.type !== "array") return DECLINED
  return typedValue(answer, { field, choices })
}

interface Choice {
  readonly label: string
  readonly value: string | boolean
}

function choicesOf(field: PrimitiveSchemaDefinition): readonly Choice[] {
  if (field.type === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ]
  const listed = (field.type === "array" ? field.items : field) as {
    readonly enum?: readonly string[]
    readonly enumNames?: readonly string[]
    readonly oneOf?: readonly { readonly const: string; readonly title: string }[]
    readonly anyOf?: readonly { readonly const: string; readonly title: string }[]
  }
  const titled = listed.oneOf ?? listed.anyOf
  if (titled) return titled.map(({ const: value, title }) => ({ label: escapeText(title), value }))
  return (listed.enum ?? []).map((value, i) => ({ label: escapeText(listed.enumNames?.[i] ?? value), value }))
}

interface Proposal {
  readonly label: string
  readonly value: Value
}

/** The default of a field, offered first. Ignored if it does not match the field's type. */
function proposalOf(field: PrimitiveSchemaDefinition, choices: readonly Choice[]): Proposal | undefined {
  const value: unknown = field.default
  if (Array.isArray(value)) {
    const chosen = value.map((each: unknown) => choices.find((choice) => choice.value === each))
    const isListed = field.type === "array" && value.length > 0 && chosen.every((choice) => choice !== undefined)
    return isListed ? { label: chosen.map(({ label }) => label).join(", "), value: value.map(String) } : undefined
  }
  if (choices.length > 0) return field.type === "array" ? undefined : choices.find((choice) => choice.value === value)
  const isNumeric = field.type === "number" || field.type === "integer"
  if (typeof value !== (isNumeric ? "number" : "string") || value === "") return undefined
  return { label: escapeText(String(value)), value: value as string | number }
}

/** Converts an answer to the field's type. An invalid number declines the request, because the server would get an unintended value. */
function typedValue(
  answer: string,
  { field, choices }: { readonly field: PrimitiveSchemaDefinition; readonly choices: readonly Choice[] },
): Value | typeof DECLINED {
  if (field.type === "number" || field.type === "integer") {
    const number = Number(answer)
    return answer.trim() === "" || !Number.isFinite(number) ? DECLINED : number
  }
  if (field.type !== "array") return answer
  const requested = answer.split(",").map((part) => part.trim())
  const found = requested.map((part) => choices.find(({ label, value }) => label === part || value === part)?.value)
  return found.some((value) => value === undefined) ? DECLINED : found.map(String)
}

/** Escapes a server's text, so that it cannot control the terminal. */
const escapeText = (text: string, characters = FIELD_CHARACTERS): string => escapeInvisible(clip(text, characters))
