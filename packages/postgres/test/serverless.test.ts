import { once } from "node:events"
import type { AddressInfo } from "node:net"
import Anthropic from "@anthropic-ai/sdk"
import { serve } from "@hono/node-server"
import { type ScriptedTurn, scriptedResponder, startSimulator } from "@strata/sim"
import pg from "pg"
import { describe, expect, onTestFinished, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { serverless } from "../examples/serverless.ts"
import { postgresStore } from "../src/index.ts"
import { sharedServer } from "./shared-server.ts"

/** Maximum number of statements of a request in a warm process: open, remember, one append, close and the rest. */
const MAX_STATEMENTS = 17

describe("BEY-12 a server without a disk", needs("postgres"), () => {
  test("each request opens the conversation on another machine, and finds the messages from the last one", async () => {
    const asked: string[] = []
    const turn: ScriptedTurn = ({ request }) => {
      asked.push(JSON.stringify(request.messages))
      return "Yes."
    }
    const [server, sim] = await Promise.all([
      sharedServer(),
      startSimulator({ responder: scriptedResponder(Array.from({ length: 10 }, () => turn)) }),
    ])
    onTestFinished(() => Promise.all([server.stop(), sim.close()]).then(() => undefined))
    const url = await server.database()
    const client = new Anthropic({ apiKey: "sk-ant-test", baseURL: sim.url, maxRetries: 0 })

    /** A machine with its own pool, store and server. */
    async function machine() {
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      let statements = 0
      pool.on("acquire", () => statements++)
      const store = postgresStore({ pool, tenant: "acme" })
      const userOf = ({ headers }: Request) => headers.get("x-user") ?? undefined
      const http = serve({ fetch: serverless({ store, client, userOf }).fetch, port: 0, hostname: "127.0.0.1" })
      onTestFinished(async () => {
        await new Promise((resolve) => http.close(resolve))
        await store.close()
        await pool.end()
      })
      await once(http, "listening")
      const { port } = http.address() as AddressInfo
      const ask = async (text: string, user = "anna") => {
        statements = 0
        const response = await fetch(`http://127.0.0.1:${port}/chats/c1`, {
          ...{ method: "POST", body: JSON.stringify({ text }) },
          headers: { "content-type": "application/json", ...(user === "" ? {} : { "x-user": user }) },
        })
        return { status: response.status, body: await response.json(), statements }
      }
      return { ask }
    }

    const machines = [await machine(), await machine(), await machine()]
    for (let turn = 0; turn < 6; turn++) {
      const { status, statements } = await machines[turn % machines.length]!.ask(`Question ${turn}`)
      expect(status).toBe(200)
      if (turn >= machines.length) expect(statements).toBeLessThanOrEqual(MAX_STATEMENTS)
    }
    expect(asked.at(-1)!.match(/Question \d/g)).toEqual(Array.from({ length: 6 }, (_, turn) => `Question ${turn}`))

    const other = await machines[0]!.ask("What did the other customer say?", "bert")
    expect(other.status).toBe(200)
    expect(asked.at(-1)).not.toContain("Question")
    expect(await machines[0]!.ask("Hello?", "")).toMatchObject({ status: 401 })
  })
})
