/** Pages over the usage of a made home directory, for tests. */
import type { Usage } from "../src/index.ts"
import { startTrial, type TrialPages } from "./trial-pages.ts"

export interface UsageTrial extends TrialPages {
  /** Tells open pages that the usage has changed. */
  changed(): void
}

export async function startUsageTrial(look: Usage, progress?: string): Promise<UsageTrial> {
  const listeners = new Set<() => void>()
  const trial = await startTrial({
    name: "All",
    conversations: async () => [],
    find: async (id) => {
      const row = look.row(Number(id))
      return row && { id, title: row.title ?? row.id, location: { file: row.file, conversationId: row.id } }
    },
    usage: {
      report: (filter) => look.report(filter),
      list: (request) => look.list(request),
      findDeletedSessions: () => look.findDeletedSessions(),
      progress: () => progress,
      onChange: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
  })
  return {
    ...trial,
    changed: () => {
      for (const listener of listeners) listener()
    },
  }
}
