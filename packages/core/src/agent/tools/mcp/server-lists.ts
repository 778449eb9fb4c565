/** Lists what a server offers besides tools: resources and prompts. Failures never affect the connection. */
import type { Client, Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/client"

const PROBE_MS = 2_000 // a slow list must not delay the start

export interface ListedResources {
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplateType[]
}

interface RequestLimits {
  readonly signal: AbortSignal
  readonly timeout: number
}

/**
 * Whether the server has resources. Requests only the first page. A server that does not respond in time counts as having resources,
 * because it declared them.
 */
export async function hasResources(client: Client, { signal, timeout }: RequestLimits): Promise<boolean> {
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

/** Lists resources and templates. A server may support only one of the two. */
export async function listResources(client: Client, limits: RequestLimits): Promise<ListedResources> {
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

/** Lists prompts. Empty if the server has none or does not respond. */
export async function listPrompts(client: Client, limits: RequestLimits): Promise<readonly Prompt[]> {
  if (!client.getServerCapabilities()?.prompts) return []
  return client.listPrompts(undefined, limits).then(
    ({ prompts }) => prompts,
    () => [],
  )
}
