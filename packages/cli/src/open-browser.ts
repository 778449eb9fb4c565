/** Opens an address in the user's browser. */
import { spawn } from "node:child_process"
import { withoutSecrets } from "@strata/core/agent"

/** Programs that open a browser. The address is passed as one argument, never through a shell, and the program gets no secrets. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
}
const OTHERS = ["xdg-open"] as const

/** Opens the address. Resolves with whether a program could be started. */
export function openInBrowser(address: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? OTHERS
  return new Promise((resolve) => {
    const child = spawn(command, [...args, address], {
      stdio: "ignore",
      detached: true,
      env: withoutSecrets(process.env),
    })
    child.once("error", () => resolve(false))
    child.once("spawn", () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Whether this machine can show a browser. A remote session or Linux without a display cannot. */
export const hasBrowser = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !env.SSH_CONNECTION && (process.platform !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY))
