/** The sandbox of Linux: bubblewrap, with namespaces of its own for files, processes, the network and users. */
import { type Enclosure, mountsOf } from "./enclosure.ts"

/** Sockets of other programs are there: one that answers would be a way out. Links to programs are kept where a system has them there. */
export const RUNTIME_PLACES = {
  hidden: ["/tmp", "/run", "/dev/shm"],
  shown: ["/run/current-system", "/run/wrappers"],
} as const

export const bubblewrapArguments = (enclosure: Enclosure): readonly string[] => [
  ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...(enclosure.hasNetwork ? [] : ["--unshare-net"]),
  ...["--die-with-parent", "--cap-drop", "ALL"], // for root, capabilities would stay otherwise
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...mountsOf(enclosure).flatMap((mount) => {
    if (mount.how === "show") return ["--ro-bind-try", mount.path, mount.path]
    if (mount.how === "write") return ["--bind-try", mount.path, mount.path]
    return mount.isDirectory ? ["--tmpfs", mount.path] : ["--dev-bind", "/dev/null", mount.path] // an empty file
  }),
  ...["--chdir", enclosure.directory, "--"],
]
