// write_summaries DIR: event files for read_summaries.py, as a run leaves them that was killed after step 3 and resumed
// from step 2.
#include <vector>

#include "pax/metrics/event_file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pax::EventFileWriter first(argv[1]);
  for (int64_t step = 0; step <= 3; ++step) first.scalar(step, "loss", 4.0 - static_cast<double>(step));
  first.text(0, "config", "**model_dims**: 64");
  first.close();

  pax::EventFileWriter resumed(argv[1], 3);
  resumed.scalar(3, "loss", 0.5);
  resumed.scalar(4, "loss", 0.25);
  resumed.histogram(4, "vars/w", std::vector<double>{0, 1, 2, 3, 3});
  resumed.histogram(4, "vars/constant", std::vector<double>{2, 2});
  resumed.histogram(4, "vars/none", std::vector<double>{});
  resumed.close();
  return 0;
}
