/**
 * ListMcpResources and ReadMcpResource: the model lists and reads resources of MCP servers. The tools exist only if a connected server has
 * resources. Reading changes nothing, and a rule for a server covers its resources.
 */
import { errorMessage } from "../../../base/errors.ts"
import { clip } from "../../../tools/defaults.ts"
import type {
  ListedResource,
  ListedTemplate,
  PermissionQuestion,
  ServerResources,
  Tool,
  ToolContext,
  ToolOutput,
  ToolServer,
} from "../../../tools/tool.ts"
import { mcpServerName } from "./mcp-names.ts"

const LIST_RESOURCES = "ListMcpResources"
const READ_RESOURCE = "ReadMcpResource"

const MAX_LISTED = 500 // per server; large lists of files belong in a search tool
const DESCRIPTION_CHARACTERS = 300
const SUMMARY_CHARACTERS = 200

type ResourceServer = Pick<ToolServer, "name"> & { readonly resources: ServerResources }

/** `servers`: returns the current servers. */
export function resourceTools(servers: () => readonly ToolServer[]): readonly Tool[] {
  const sources = (): readonly ResourceServer[] =>
    servers().flatMap(({ name, resources }) => (resources ? [{ name, resources }] : []))
  return [listTool(sources), readTool(sources)]
}

export const offersResources = (servers: readonly ToolServer[]): boolean =>
  servers.some(({ resources }) => resources !== undefined)

const SERVER = { type: "string", description: "The name of the MCP server." } as const

function listTool(sources: () => readonly ResourceServer[]): Tool<{ readonly server?: string }> {
  return {
    name: LIST_RESOURCES,
    description:
      "Lists the resources that MCP servers offer: documents, records and other data, each with a uri. A template is a uri with parts to fill in. Read one with ReadMcpResource.",
    inputSchema: {
      type: "object",
      properties: { server: { ...SERVER, description: `${SERVER.description} Default: all.` } },
    },
    readOnly: true,
    question: ({ server }) => questionFor(server, `list the resources of ${server ?? "all MCP servers"}`),
    async execute({ server }, context) {
      const all = sources()
      const chosen =
        server === undefined ? all.filter((one) => mayRead(one, context)) : all.filter(({ name }) => name === server)
      if (server !== undefined && chosen.length === 0) return unknownServer(server, all)
      const listed = await Promise.all(chosen.map((one) => listingOf(one, context.signal)))
      const entries = listed.flat()
      return entries.length === 0
        ? "There are no resources now."
        : entries.map((entry) => JSON.stringify(entry)).join("\n")
    },
  }
}

function readTool(sources: () => readonly ResourceServer[]): Tool<{ readonly server: string; readonly uri: string }> {
  return {
    name: READ_RESOURCE,
    description:
      "Reads a resource of an MCP server by its uri, as ListMcpResources or a result of the server names it.",
    inputSchema: {
      type: "object",
      properties: { server: SERVER, uri: { type: "string", description: "The uri of the resource." } },
      required: ["server", "uri"],
    },
    readOnly: true,
    question: ({ server, uri }) => questionFor(server, `read ${uri} of ${server}`),
    async execute({ server, uri }, { signal }) {
      const all = sources()
      const source = all.find(({ name }) => name === server)
      if (!source) return unknownServer(server, all)
      try {
        return await source.resources.read(String(uri), signal)
      } catch (error) {
        return failed(`${server} did not return ${uri}: ${errorMessage(error)}.`)
      }
    },
  }
}

function questionFor(server: unknown, summary: string): PermissionQuestion {
  const rule = typeof server === "string" ? { ruleName: `${mcpServerName(server)}__resources` } : {}
  return { kind: "other", summary: clip(summary, SUMMARY_CHARACTERS), ...rule }
}

/** Whether a server may be listed. Servers that a rule denies are omitted from the list of all servers. */
const mayRead = ({ name }: ResourceServer, { judgeStep }: ToolContext): boolean =>
  judgeStep?.(questionFor(name, `list the resources of ${name}`)).verdict !== "deny"

async function listingOf({ name, resources }: ResourceServer, signal: AbortSignal): Promise<readonly object[]> {
  try {
    const listed = await resources.list(signal)
    const entries = [
      ...listed.resources.map((one) => entryOf(name, one)),
      ...listed.templates.map((one) => entryOf(name, one)),
    ]
    const more = entries.length - MAX_LISTED
    return more > 0 ? [...entries.slice(0, MAX_LISTED), { server: name, left_out: more }] : entries
  } catch (error) {
    return [{ server: name, error: errorMessage(error) }]
  }
}

function entryOf(server: string, given: ListedResource | ListedTemplate): object {
  const { name, title, description, mimeType } = given
  return {
    server,
    ...("uri" in given ? { uri: given.uri } : { uriTemplate: given.uriTemplate }),
    name: title ?? name,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(description === undefined ? {} : { description: clip(description, DESCRIPTION_CHARACTERS) }),
  }
}

function unknownServer(server: unknown, all: readonly ResourceServer[]): ToolOutput {
  const names = all.map(({ name }) => name).join(", ")
  return failed(
    `No connected MCP server named ${JSON.stringify(server)} has resources. ${names ? `These have: ${names}.` : ""}`.trim(),
  )
}

const failed = (content: string): ToolOutput => ({ content, isError: true })
