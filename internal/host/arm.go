package host

import (
	"slices"
	"strings"
)

// armVendors by "CPU implementer" of /proc/cpuinfo, bits 31 to 24 of MIDR_EL1 (Arm Architecture Reference Manual, D19.2).
var armVendors = map[string]string{
	"0x41": "ARM", "0x42": "Broadcom", "0x43": "Cavium", "0x46": "Fujitsu", "0x48": "HiSilicon", "0x4e": "NVIDIA", "0x50": "APM",
	"0x51": "Qualcomm", "0x61": "Apple", "0x6d": "Microsoft", "0x70": "Phytium", "0xc0": "Ampere",
}

// armParts by implementer and "CPU part", bits 15 to 4 of MIDR_EL1 (technical reference manuals of the cores). Servers first:
// Neoverse N1 is in Altra and Graviton2, V1 in Graviton3, V2 in Graviton4 and Grace, N2 in Cobalt 100.
var armParts = map[string]string{
	"0x41 0xd0c": "Neoverse-N1", "0x41 0xd40": "Neoverse-V1", "0x41 0xd49": "Neoverse-N2", "0x41 0xd4f": "Neoverse-V2",
	"0x41 0xd84": "Neoverse-V3", "0x41 0xd8e": "Neoverse-N3", "0x41 0xd4a": "Neoverse-E1", "0xc0 0xac3": "Ampere-1",
	"0xc0 0xac4": "Ampere-1a", "0x48 0xd01": "Kunpeng-920", "0x46 0x001": "A64FX", "0x43 0x0af": "ThunderX2",
	"0x41 0xd03": "Cortex-A53", "0x41 0xd05": "Cortex-A55", "0x41 0xd07": "Cortex-A57", "0x41 0xd08": "Cortex-A72",
	"0x41 0xd09": "Cortex-A73", "0x41 0xd0b": "Cortex-A76", "0x41 0xd41": "Cortex-A78", "0x41 0xd44": "Cortex-X1",
}

// armNames of the kinds of cores in /proc/cpuinfo; a part that is not known keeps its numbers.
func armNames(implementer, cpuinfo, model string) (vendor, names string) {
	vendor = armVendors[implementer]
	if vendor == "" {
		vendor = implementer
	}
	if model != "" { // some kernels give one
		return vendor, model
	}
	var kinds []string
	for block := range strings.SplitSeq(cpuinfo, "\n\n") {
		f := fields(block)
		part, ok := f["CPU part"]
		if !ok {
			continue
		}
		name := armParts[f["CPU implementer"]+" "+part]
		if name == "" {
			name = "part " + part
		}
		if v := f["CPU variant"]; v != "" { // r3p1: major and minor revision
			name += " r" + strings.TrimPrefix(v, "0x") + "p" + f["CPU revision"]
		}
		if !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	return vendor, strings.Join(kinds, ",")
}
