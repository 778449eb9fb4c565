/** Repeatedly kills a primary under load and promotes its standby. Every acknowledged write must be on the promoted server. */
import { setTimeout as wait } from "node:timers/promises"
import type { Store } from "@strata/core"
import type { Journal, Mailbox } from "@strata/core/store"
import { entriesOf } from "../../../store-contract/src/entries.ts"
import { type Random, seededRandom } from "../../../store-contract/src/random.ts"
import { postgresStore } from "../../src/postgres-store.ts"
import { allEntries } from "../fleet/records.ts"
import { startServer, type TestServer } from "../server.ts"
import { promote, startStandby, waitForStandby } from "../standby.ts"
import { startProxy, type TcpProxy, through } from "../tcp-proxy.ts"

export interface FailoverOptions {
  readonly programs: string
  readonly times: number
  readonly writers: number
  readonly seed: number
}

export interface FailoverReport {
  readonly problems: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

const PROJECT = "failover"

export async function runFailovers({ programs, times, writers, seed }: FailoverOptions): Promise<FailoverReport> {
  const random = seededRandom(`failover ${seed}`)
  let primary = await startServer({ programs })
  const address = await primary.database()
  const proxy = await startProxy(primary.port)
  const store = postgresStore({ connectionString: through(proxy, address), timeoutMs: 10_000, retryTimeoutMs: 120_000 })
  const load = new Load(store)
  let problems: readonly string[] = []
  try {
    await load.start(writers)
    for (let time = 0; time < times; time++) {
      const standby = await startStandby({ primary, programs })
      await waitForStandby(primary)
      await load.more(50 + random.below(100))
      await replace({ primary, standby, proxy, random })
      primary = standby
      const there = postgresStore({ connectionString: standby.url(new URL(address).pathname.slice(1), "app") })
      problems = [...problems, ...(await load.missingIn(there))]
      await there.close()
    }
    await load.stop()
    problems = [...problems, ...(await load.missingIn(store))]
  } finally {
    load.isOver = true
    await store.close()
    await proxy.close()
    await primary.stop()
  }
  return { problems, figures: { failovers: times, ...load.figures } }
}

interface Replacement {
  readonly primary: TestServer
  readonly standby: TestServer
  readonly proxy: TcpProxy
  readonly random: Random
}

/** Clients that reach the standby before it is promoted are refused and try again. */
async function replace({ primary, standby, proxy, random }: Replacement): Promise<void> {
  await wait(random.below(50))
  await primary.kill("SIGKILL")
  const isEarly = random.chance(0.5)
  if (isEarly) proxy.point(standby.port)
  proxy.cutAll()
  await promote(standby)
  proxy.point(standby.port)
  await primary.stop()
}

/** Writers of conversations and senders of messages, with a list of acknowledged writes. */
class Load {
  isOver = false
  readonly #store: Store
  readonly #entries = new Map<string, string[]>()
  readonly #messages: string[] = []
  readonly #running: Promise<void>[] = []
  readonly #mailbox: Mailbox

  constructor(store: Store) {
    this.#store = store
    this.#mailbox = store.mailboxes({ project: PROJECT, team: "all" })
  }

  async start(writers: number): Promise<void> {
    for (let n = 0; n < writers; n++) {
      const id = `c${n}`
      const journal = await this.#store.open({ project: PROJECT, id }, { access: "write", create: true })
      this.#running.push(this.#write(id, journal), this.#send(id))
    }
  }

  async #write(id: string, journal: Journal): Promise<void> {
    const entries = entriesOf(id)
    const written: string[] = []
    this.#entries.set(id, written)
    while (!this.isOver) {
      const entry = entries.user(String(written.length))
      await journal.append([entry])
      written.push(entry.uuid)
    }
    await journal.close()
  }

  async #send(from: string): Promise<void> {
    for (let n = 0; !this.isOver; n++) {
      const id = `${from}-${n}`
      await this.#mailbox.send({ from, to: ["someone"], content: { id } })
      this.#messages.push(id)
    }
  }

  /** Waits for this many further acknowledgements. */
  async more(count: number): Promise<void> {
    const wanted = this.#count() + count
    const isOver = Promise.all(this.#running)
    while (this.#count() < wanted) await Promise.race([wait(5), isOver])
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.#running)
    await this.#mailbox.close()
  }

  /** Writes that were acknowledged before this call and are missing or duplicated. */
  async missingIn(store: Store): Promise<readonly string[]> {
    const acknowledged = [...this.#entries].map(([id, uuids]) => [id, [...uuids]] as const)
    const sent = [...this.#messages]
    const problems: string[] = []
    for (const [id, uuids] of acknowledged) {
      const journal = await store.open({ project: PROJECT, id }, { access: "read" })
      const there = (await allEntries(journal)).map(({ uuid }) => uuid)
      await journal.close()
      if (there.slice(0, uuids.length).join() !== uuids.join()) problems.push(`${id}: entries are lost`)
      if (new Set(there).size !== there.length) problems.push(`${id}: an entry is there twice`)
    }
    const mailbox = store.mailboxes({ project: PROJECT, team: "all" })
    const ids = (await mailbox.read(undefined)).messages.map(({ content }) => content.id)
    await mailbox.close()
    if (new Set(ids).size !== ids.length) problems.push("a message is there twice")
    const found = new Set(ids)
    problems.push(...sent.filter((id) => !found.has(id)).map((id) => `message ${id} is lost`))
    return problems
  }

  get figures(): Readonly<Record<string, number>> {
    const entries = [...this.#entries.values()].reduce((sum, { length }) => sum + length, 0)
    return { "entries acknowledged": entries, "messages acknowledged": this.#messages.length }
  }

  #count(): number {
    return Object.values(this.figures).reduce((sum, figure) => sum + figure, 0)
  }
}
