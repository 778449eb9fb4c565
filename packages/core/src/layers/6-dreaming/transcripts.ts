/**
 * Transcripts of past conversations for a dream: the directories with journals, if the store keeps files. Otherwise the newest lines of the
 * conversations since the last dream are written to a directory in the same format. All of them belong to one owner and project.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isSafeId } from "../../base/clock.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"
import type { ConversationListing, JournalFeed, Store } from "../../journal/store.ts"

const MAX_CONVERSATIONS = 50 // each is read separately
const MAX_BYTES = 1024 * 1024 // bytes of one conversation, the newest
const MAX_READ = 32 * 1024 * 1024 // bytes of one conversation: all of it is read to find its end

/** The conversations of one project, over all its namespaces in the store. */
export interface PastConversations {
  /** Lists the conversations without opening them. */
  list(): Promise<readonly PastConversation[]>
  /** Directories to search. `directory`: destination for lines of a store without files. */
  transcripts(order: TranscriptsOptions): Promise<readonly string[]>
}

export interface PastConversation extends Pick<ConversationListing, "id" | "bytes" | "touched"> {
  /** Namespace in the store. */
  readonly project: string
}

interface TranscriptsOptions {
  readonly directory: string
  readonly since?: Date | undefined
}

export function pastConversations(store: Store, places: () => Promise<readonly string[]>): PastConversations {
  async function list(): Promise<readonly PastConversation[]> {
    const lists = (await places()).map(async (project) => {
      const listed = await store.list(project, { isBare: true })
      return listed.map(({ id, bytes, touched }) => ({ id, bytes, touched, project }))
    })
    return (await Promise.all(lists)).flat()
  }

  async function written({ directory, since }: TranscriptsOptions, feeds: ReadonlyMap<string, JournalFeed>) {
    const isWanted = ({ project, touched, bytes, id }: PastConversation) =>
      feeds.has(project) && isSafeId(id) && bytes <= MAX_READ && (!since || touched > since.toISOString())
    const newest = (await list()).filter(isWanted).sort((a, b) => b.touched.localeCompare(a.touched))
    if (newest.length === 0) return []
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
    for (const { project, id } of newest.slice(0, MAX_CONVERSATIONS)) {
      const file = join(directory, `${id}.jsonl`)
      // one id in two namespaces is a moved conversation: the newest is already there
      await writeFile(file, await newestLines(feeds.get(project)!, id), { mode: FILE_MODE, flag: "wx" }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error
        },
      )
    }
    return [directory]
  }

  return {
    list,
    async transcripts(order) {
      const feeds = new Map((await places()).map((project) => [project, store.feed({ project })]))
      try {
        const directories = [...feeds.values()].flatMap(({ directory }) => directory ?? [])
        const without = new Map([...feeds].filter(([, { directory }]) => directory === undefined))
        return [...directories, ...(without.size === 0 ? [] : await written(order, without))]
      } finally {
        for (const feed of feeds.values()) feed.close()
      }
    },
  }
}

async function newestLines(feed: JournalFeed, id: string): Promise<Buffer> {
  const lines: Buffer[] = []
  let bytes = 0
  for await (const line of feed.lines(id, 0)) {
    if (!line.ended) break
    lines.push(Buffer.concat([line.bytes, NEWLINE]))
    bytes += line.bytes.length + 1
    while (bytes > MAX_BYTES && lines.length > 1) bytes -= lines.shift()!.length
  }
  return Buffer.concat(lines)
}

const NEWLINE = Buffer.from("\n")
