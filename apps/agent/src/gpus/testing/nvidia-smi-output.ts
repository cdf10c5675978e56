/** What nvidia-smi prints for the inventory query in good and in bad times, by what it shows. */
const row0 =
  "0, GPU-00000000-0000-4000-8000-0000000000a0, 00000000:17:00.0, NVIDIA H100 80GB HBM3, 81559, 4, 0, 31, 0, Disabled";
const row1 =
  "1, GPU-00000000-0000-4000-8000-0000000000a1, 00000000:41:00.0, NVIDIA H100 80GB HBM3, 81559, 4, 0, 33, 0, Disabled";
const row2 =
  "2, GPU-00000000-0000-4000-8000-0000000000a2, 00000000:65:00.0, NVIDIA H100 80GB HBM3, 81559, 4, 0, 33, 0, Disabled";
const lostLine = "Unable to determine the device handle for GPU1: 0000:41:00.0: Unknown Error";
const warning = "WARNING: infoROM is corrupted at gpu 0000:41:00.0";

export const nvidiaSmi = {
  row0,
  row1,
  row2,
  lostLine,
  warning,
  twoHealthy: `${row0}\n${row1}\n`,
  threeHealthy: `${row0}\n${row1}\n${row2}\n`,
  consumer:
    "0, GPU-00000000-0000-4000-8000-0000000000b0, 00000000:01:00.0, NVIDIA GeForce RTX 4090, 24564, 512, 3, 45, [N/A], [N/A]\n",
  unifiedMemory:
    "0, GPU-00000000-0000-4000-8000-0000000000c0, 0000000F:01:00.0, NVIDIA GB10, [N/A], [N/A], 0, 41, [N/A], [N/A]\n",
  unknownErrors:
    "1, GPU-00000000-0000-4000-8000-0000000000a1, 00000000:41:00.0, NVIDIA H100 80GB HBM3, [Unknown Error], [Unknown Error], [Unknown Error], [GPU requires reset], [Unknown Error], Disabled",
  migParent:
    "0, GPU-00000000-0000-4000-8000-0000000000d0, 00000000:17:00.0, NVIDIA A100-SXM4-80GB, 81920, 87, [N/A], 35, 0, Enabled\n",
  crlf: `${warning}\r\n${row0}\r\n\r\n${row1}\r\n`,
  /** Two cards of the report of `-q -x`, cut to what is read; the second is broken. */
  xml: `<?xml version="1.0" ?>
<nvidia_smi_log>
  <attached_gpus>2</attached_gpus>
  <gpu id="00000000:17:00.0">
    <product_name>NVIDIA H100 80GB HBM3</product_name>
    <uuid>GPU-00000000-0000-4000-8000-0000000000a0</uuid>
    <minor_number>0</minor_number>
    <mig_mode><current_mig>Disabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
    <compute_mode>Default</compute_mode>
    <fb_memory_usage><total>81559 MiB</total><reserved>479 MiB</reserved><used>59 MiB</used><free>81022 MiB</free></fb_memory_usage>
    <utilization><gpu_util>0 %</gpu_util></utilization>
    <ecc_errors><volatile><sram_uncorrectable>0</sram_uncorrectable><dram_uncorrectable>0</dram_uncorrectable></volatile></ecc_errors>
    <remapped_rows><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
    <gpu_recovery_action>None</gpu_recovery_action>
    <temperature><gpu_temp>42 C</gpu_temp></temperature>
  </gpu>
  <gpu id="00000000:41:00.0">
    <product_name>NVIDIA H100 80GB HBM3</product_name>
    <uuid>GPU-00000000-0000-4000-8000-0000000000a1</uuid>
    <minor_number>1</minor_number>
    <mig_mode><current_mig>Disabled</current_mig></mig_mode>
    <fb_memory_usage><total>[Unknown Error]</total><used>[Unknown Error]</used></fb_memory_usage>
    <ecc_errors><volatile><sram_uncorrectable>1</sram_uncorrectable><dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>
    <gpu_recovery_action>Reset</gpu_recovery_action>
  </gpu>
</nvidia_smi_log>
`,
  mismatch: "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 555.10\n",
} as const;
