/** The PostgreSQL server that all test files of a run share: each has databases of its own in it. For what changes a server, start another. */
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { inject } from "vitest"
import { addressOn, run, type TestServer } from "./server.ts"
import type { SharedAddress } from "./shared-setup.ts"

/** `stop` removes the databases of this file, and the server goes on. */
export type SharedServer = Pick<TestServer, "port" | "url" | "database" | "stop"> & {
  /** A new database without the schema, as its owner sees it. */
  emptyDatabase(): Promise<string>
}

let databases = 0

export async function sharedServer(): Promise<SharedServer> {
  const { port, template } = await askTheRun()
  const url = addressOn(port)
  const made: string[] = []

  async function create(from: string): Promise<string> {
    const name = `strata_${process.pid}_${++databases}`
    made.push(name)
    await run(url(), `create database ${name} template ${from}`)
    return name
  }

  return {
    ...{ port, url },
    database: async () => url(await create(template), "app"),
    emptyDatabase: async () => url(await create("template1")),
    async stop() {
      for (const name of made.splice(0)) await run(url(), `drop database if exists ${name} with (force)`)
    },
  }
}

async function askTheRun(): Promise<SharedAddress> {
  const answer = JSON.parse(await text(connect(inject("postgresPort"), "127.0.0.1"))) as
    | SharedAddress
    | { readonly error: string }
  if ("error" in answer) throw new Error(answer.error)
  return answer
}
