"""record.py FOLDER [PART...]: records what the real Praxis 1.4 computes, as cases below FOLDER.

Only the cases whose `area/name` contains one of the PARTs, when there are any. See environment.sh for the packages.
"""
import importlib
import sys

MODULES = ('basic_cases', 'attention_cases', 'optimizer_cases', 'model_cases')


def main():
  folder, parts = sys.argv[1], sys.argv[2:]
  written = failed = 0
  for module in MODULES:
    for case in importlib.import_module(module).all_cases():
      name = f'{case.area}/{case.name}'
      if parts and not any(part in name for part in parts):
        continue
      try:
        case.write(folder)
        written += 1
      except Exception as error:  # pylint: disable=broad-except
        failed += 1
        print(f'FAILED {name}: {type(error).__name__}: {str(error)[:300]}', flush=True)
  print(f'{written} written, {failed} failed')


if __name__ == '__main__':
  main()
