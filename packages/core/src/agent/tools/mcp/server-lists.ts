/** What a server offers besides tools: resources to read and prompts to send. Listing them never fails a connection. */
import type { Client, Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/client"

const PROBE_MS = 2_000 // a server that lists slowly must not hold up the start

export interface ListedResources {
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplateType[]
}

interface Limits {
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Asks for the first page only. A server that does not answer in time counts as having resources: it says that it offers them. */
export async function hasResources(client: Client, { signal, timeout }: Limits): Promise<boolean> {
  if (!client.getServerCapabilities()?.resources) return false
  const limits = { signal, timeout: Math.min(timeout, PROBE_MS) }
  const isThere = (count: Promise<number>) =>
    count.then(
      (listed) => listed > 0,
      (error: unknown) => !isUnknownMethod(error),
    )
  const [resources, templates] = await Promise.all([
    isThere(client.request({ method: "resources/list" }, limits).then((page) => page.resources.length)),
    isThere(
      client.request({ method: "resources/templates/list" }, limits).then((page) => page.resourceTemplates.length),
    ),
  ])
  return resources || templates
}

const METHOD_NOT_FOUND = -32_601

const isUnknownMethod = (error: unknown): boolean => (error as { readonly code?: unknown }).code === METHOD_NOT_FOUND

/** A server may know only one of the two lists. */
export async function listResources(client: Client, limits: Limits): Promise<ListedResources> {
  const [resources, templates] = await Promise.allSettled([
    client.listResources(undefined, limits),
    client.listResourceTemplates(undefined, limits),
  ])
  if (resources.status === "rejected" && templates.status === "rejected") throw resources.reason
  return {
    resources: resources.status === "fulfilled" ? resources.value.resources : [],
    templates: templates.status === "fulfilled" ? templates.value.resourceTemplates : [],
  }
}

/** Empty where the server has none or does not answer. */
export async function listPrompts(client: Client, limits: Limits): Promise<readonly Prompt[]> {
  if (!client.getServerCapabilities()?.prompts) return []
  return client.listPrompts(undefined, limits).then(
    ({ prompts }) => prompts,
    () => [],
  )
}
